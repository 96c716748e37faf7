import ArgumentParser
import MediaBridge
import MediaCore

/// How far the command of this process is. A mistake of its line that is found before it is in a room ends it with a
/// status of its own, whoever finds it: what begins it again after any other one would do so for ever.
enum CommandCourse {
  private enum Stage {
    case begun, mistaken, joined
  }
  private static let stage = Locked(Stage.begun)

  /// It is in its room: what is refused from now on goes by what is there.
  static func join() { stage.withLock { $0 = .joined } }

  /// - Parameter error: what it fails with.
  static func note(_ error: any Error) {
    guard isMistake(error) else { return }
    stage.withLock { stage in
      if stage == .begun { stage = .mistaken }
    }
  }

  /// Of a command that has failed.
  static var status: ExitCode { stage.withLock { $0 == .mistaken } ? .validationFailure : .failure }

  /// Whether another command line would help, and neither another machine nor another moment.
  private static func isMistake(_ error: any Error) -> Bool {
    guard let code = (error as? LiveKitError)?.code else { return error is ValidationError }
    return code == .invalidParameter || code == .template
  }
}
