import GStreamerKit
import MediaCore
import PipelineTemplates

/// A look at this desktop, which the person there allows by its portal each time that a capture template runs which wants
/// one; the second time nobody is asked, where the desktop remembers.
final class DesktopAccess: Sendable {
  private struct State {
    var cast: ScreenCast?
    var token: String?
  }
  private let state = Locked(State())

  /// Whether a template takes what the portal hands out, PipeWire's connection and node, and nobody has set them.
  static func isWanted(by template: Template, values: [String: String]) -> Bool {
    ["fd", "node"].allSatisfy { name in
      values[name] == nil && template.variables.contains { $0.name == name }
    }
  }

  /// Asks for it.
  /// - Parameter onEnd: called once, where the person takes it back.
  /// - Returns: values of the template's variables.
  func open(showsPointer: Bool, _ onEnd: @escaping @Sendable () -> Void) async throws(LiveKitError) -> [String: String]
  {
    let cast = ScreenCast()
    let token = state.withLock { state in
      state.cast = cast
      return state.token
    }
    do throws(ScreenCastError) {
      let stream = try await cast.begin(showsPointer: showsPointer, token: token, onEnd: onEnd)
      state.withLock { $0.token = stream.token }
      return ["fd": String(stream.descriptor), "node": String(stream.node)]
    } catch {
      throw LiveKitError(error)
    }
  }

  deinit { close() }

  /// Gives it back; who is being asked need not answer.
  func close() { state.withLock { $0.cast?.end() } }
}

extension LiveKitError {
  static let desktopIsOver = LiveKitError(.cancelled, "the desktop has ended what was shared")

  /// Whether the person at the desktop has said no.
  package var isRefusedByPerson: Bool { if case .refused? = underlying as? ScreenCastError { true } else { false } }

  fileprivate init(_ error: ScreenCastError) {
    switch error {
    case .cancelled: self = LiveKitError(.cancelled, "nobody waits for the person at the desktop any more")
    case .refused:
      self = LiveKitError(.display, "the person at the desktop has shared nothing", underlying: error)
    case .failed(let words):
      self = LiveKitError(
        .display, "the portal of this desktop shows no screen (\(words)); its log says why: journalctl --user -b")
    case .unavailable(let words):
      self = LiveKitError(
        .display,
        "this desktop shows no screen (\(words)); install the Debian package xdg-desktop-portal and the one that belongs "
          + "to the desktop, such as xdg-desktop-portal-gnome")
    }
  }
}
