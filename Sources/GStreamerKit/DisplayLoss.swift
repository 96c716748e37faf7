import Glibc
import MediaCore

/// Tells when an X11 display goes away under the windows of this process.
///
/// Unless it is told otherwise Xlib writes some lines to standard error then, and ends the process. There is no way to let
/// the thread that found out go on: when the handler returns the process ends, and what could change that belongs to the
/// connection, which a sink keeps to itself. So the handler keeps that thread for good, and a pipeline that waits for it
/// does not stop any more.
///
/// Xlib is not linked: a sink's plugin brings it along, and where none has there is no window of X11.
public enum DisplayLoss {
  /// Why nothing can be seen any more.
  public enum Reason: Sendable {
    /// There is no connection to the display, and threads that use it are kept.
    case connection
    /// The display refused something, as where somebody else has destroyed the window.
    case refusal
  }

  /// One who wants to be told, until `forget` is called.
  public struct Watch: Sendable {
    fileprivate let id: Int
    /// When it returns the handler is not called any more, but for a call that is under way.
    public func forget() { _ = watches.withLock { $0.handlers.removeValue(forKey: id) } }
  }

  private struct Watches {
    var next = 0
    var handlers: [Int: @Sendable (Reason) -> Void] = [:]
  }
  private static let watches = Locked(Watches())

  /// Call it once the window is open. A program that has an X11 error handler of its own keeps that, and nothing is
  /// told.
  /// - Parameter onLoss: called on a thread of a sink, maybe more than once, whichever window of the process it was.
  public static func watch(onLoss: @escaping @Sendable (Reason) -> Void) -> Watch {
    install()
    return watches.withLock { watches in
      watches.next += 1
      watches.handlers[watches.next] = onLoss
      return Watch(id: watches.next)
    }
  }

  /// Xlib's handlers take the display, and that of errors also the error.
  private typealias Handler = @convention(c) (OpaquePointer?, OpaquePointer?) -> CInt
  private typealias Setter = @convention(c) (Handler?) -> Handler?

  private static let connectionLost: Handler = { _, _ in
    DisplayLoss.tell(.connection)
    while true { pause() }
  }
  private static let requestRefused: Handler = { _, _ in
    DisplayLoss.tell(.refusal)
    return 0
  }
  /// For the first window of X11, which need not be the first of all.
  private static let isInstalled = Locked(false)

  private static func install() {
    guard let xlib = dlopen("libX11.so.6", RTLD_NOW | RTLD_NOLOAD), isInstalled.set(\.self, to: true) else { return }
    install(connectionLost, "XSetIOErrorHandler", inPlaceOf: "_XDefaultIOError", xlib)
    install(requestRefused, "XSetErrorHandler", inPlaceOf: "_XDefaultError", xlib)
  }

  private static func install(
    _ handler: Handler, _ setter: String, inPlaceOf usual: String, _ xlib: UnsafeMutableRawPointer
  ) {
    guard let symbol = dlsym(xlib, setter) else { return }
    // Sound: these are the C declarations of Xlib.h, but that an argument more is read where Xlib gives one.
    let set = unsafeBitCast(symbol, to: Setter.self)
    let before = set(handler)
    let isUsual = unsafeBitCast(before, to: UnsafeMutableRawPointer?.self) == dlsym(xlib, usual)
    if !isUsual, let before { _ = set(before) }
  }

  private static func tell(_ reason: Reason) {
    for handler in watches.withLock({ Array($0.handlers.values) }) { handler(reason) }
  }
}
