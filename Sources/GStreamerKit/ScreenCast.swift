import CGStreamer
import Glibc
import MediaCore

/// Why nothing of a desktop is to be seen.
package enum ScreenCastError: Error, Sendable {
  /// This session has no portal, or none that shows screens: what was said of it.
  case unavailable(String)
  /// The portal is there, and cannot do it: what is known of that.
  case failed(String)
  /// The person at the desktop has shared nothing.
  case refused
  /// Nobody wants it any more.
  case cancelled
}

/// What the person at a desktop shares of it, by way of the desktop's portal (`org.freedesktop.portal.ScreenCast` of
/// freedesktop.org): with Wayland the only way to see a screen. It lasts until `end()`, or until the person ends it.
package final class ScreenCast: Sendable {
  /// Where PipeWire has the video.
  package struct Stream: Sendable {
    /// Of a connection with PipeWire, open as long as the cast lasts.
    package let descriptor: Int32
    package let node: UInt32
    /// With which the same is shared once more, without a question; nil where the desktop gives none.
    package let token: String?
  }

  private struct State {
    var isEnded = false
    /// Of the thread that waits for the desktop.
    var context: MainContext?
  }
  private let state = Locked(State())

  package init() {}

  /// Asks the person, who may take their time. Once.
  /// - Parameters:
  ///   - showsPointer: whether the mouse is to be seen, where the desktop can leave it out.
  ///   - token: of an earlier cast.
  ///   - onEnd: called on a thread of its own when it ends, but for `end()`.
  package func begin(
    showsPointer: Bool, token: String?, onEnd: @escaping @Sendable () -> Void
  ) async throws(ScreenCastError) -> Stream {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        startThread(name: "screen-cast") { [self] in
          run(showsPointer, token, onEnd) { continuation.resume(returning: $0) }
        }
      }
    } onCancel: {
      end()
    }
    return try result.get()
  }

  /// The desktop shows nothing any more; soon, on the thread that waits for it.
  package func end() {
    state.withLock { state in
      state.isEnded = true
      state.context?.wake()
    }
  }

  private func run(
    _ showsPointer: Bool, _ token: String?, _ onEnd: () -> Void,
    _ settle: (Result<Stream, ScreenCastError>) -> Void
  ) {
    let context = MainContext()
    state.withLock { $0.context = context }
    defer {
      state.withLock { $0.context = nil }
      context.leave()
    }
    let portal: DesktopPortal
    let stream: Stream
    do throws(ScreenCastError) {
      portal = try DesktopPortal(context) { [self] in state.withLock(\.isEnded) }
      stream = try portal.share(showsPointer: showsPointer, token: token)
    } catch {
      return settle(.failure(error))
    }
    settle(.success(stream))
    portal.waitForEnd()
    close(stream.descriptor)
    if !state.withLock(\.isEnded) { onEnd() }
  }
}

/// What GLib hands events out by. Only the thread that made it runs it.
///
/// `@unchecked Sendable`: GLib allows to wake it from any thread.
final class MainContext: @unchecked Sendable {
  private let context = g_main_context_new()

  /// What this thread asks for from now on is handed out by it.
  init() { g_main_context_push_thread_default(context) }
  deinit { g_main_context_unref(context) }

  /// The thread that made it asks for nothing any more.
  func leave() { g_main_context_pop_thread_default(context) }

  /// Hands out what there is, and waits for something first; returns when it is woken, too.
  func iterate() { g_main_context_iteration(context, 1) }

  func wake() { g_main_context_wakeup(context) }
}
