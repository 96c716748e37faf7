import CShims
import Dispatch
import MediaCore

/// The code and constants of the program and its libraries, as far as they are resident.
///
/// A loader reads the symbols of every library that a plugin needs, which are 180 for `libav`: 30 MB are read once, and
/// count as this process's memory from then on.
enum LoadedCode {
  /// How many had been loaded in the life of the process when code was given back last.
  private static let known = Locked<UInt64>(0)
  /// Until then what was loaded has begun its work, and code that only beginning needs has done its part.
  private static let followUp = DispatchTimeInterval.seconds(2)

  /// A library that brings 180 others along is read for a tenth of a second.
  private static let pace = DispatchTimeInterval.milliseconds(15)

  /// Gives it back again and again while `body` loads some, and afterwards.
  static func whileLoading<Result>(_ body: () -> Result) -> Result {
    let before = shim_loaded_libraries()
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + pace, repeating: pace)
    timer.setEventHandler { if shim_loaded_libraries() != before { shim_release_code() } }
    timer.resume()
    defer {
      timer.cancel()
      releaseAfterLoading()
    }
    return body()
  }

  /// Gives it back to the page cache if libraries were loaded since the last time: at once, so that it is gone before
  /// more is loaded, and a moment later. Nobody waits for that. What is needed again comes back page by page, in
  /// microseconds.
  private static func releaseAfterLoading() {
    guard let libraries = newlyLoaded() else { return }
    let queue = DispatchQueue.global()
    queue.async { shim_release_code() }
    queue.asyncAfter(deadline: .now() + followUp) {
      // Those that came since then have a moment of their own.
      if known.withLock({ $0 == libraries }) { shim_release_code() }
    }
  }

  /// Gives it back at once if libraries were loaded since the last time.
  static func releaseBeforeLoading() {
    if newlyLoaded() != nil { shim_release_code() }
  }

  /// How many have been loaded in the life of the process; nil when it is as many as the last time.
  private static func newlyLoaded() -> UInt64? {
    let libraries = shim_loaded_libraries()
    return known.set(\.self, to: libraries) ? libraries : nil
  }
}
