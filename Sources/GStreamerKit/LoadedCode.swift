import CShims
import Dispatch
import MediaCore

/// The code and constants of the program and its libraries, as far as they are resident.
///
/// A loader reads the symbols of every library that a plugin needs, which are 180 for `libav`: 30 MB are read once, and
/// count as this process's memory from then on.
enum LoadedCode {
  private struct State {
    var libraries: UInt64 = 0
    var isFollowedUp = false
  }

  private static let state = Locked(State())
  /// Until then what was loaded has begun its work, and that code, too, has done its part.
  private static let followUp = DispatchTimeInterval.seconds(2)

  /// Gives it back to the page cache if libraries were loaded since the last time: at once, so that it is gone before
  /// more is loaded, and a moment later. Nobody waits for that. What is needed again comes back page by page, in
  /// microseconds.
  static func releaseAfterLoading() {
    let libraries = shim_loaded_libraries()
    let (isNews, isFollowedUp) = state.withLock { state in
      guard state.libraries != libraries else { return (false, true) }
      defer { (state.libraries, state.isFollowedUp) = (libraries, true) }
      return (true, state.isFollowedUp)
    }
    guard isNews else { return }
    let queue = DispatchQueue.global()
    queue.async { shim_release_code() }
    guard !isFollowedUp else { return }
    queue.asyncAfter(deadline: .now() + followUp) {
      state.withLock { $0.isFollowedUp = false }
      shim_release_code()
    }
  }
}
