import Egress
import MediaBridge
import MediaCore

/// Tells of each file that is complete, once, and has run what is to be run for it.
struct CompletedFiles: Sendable {
  private let console: Console
  /// Nil where nothing is to be run.
  private let command: CompletionCommand?
  /// Held while they are told and their commands are queued, so that these come in order.
  private let seen = Locked(Set<String>())

  init(console: Console, command: CompletionCommand? = nil) { (self.console, self.command) = (console, command) }

  func note(_ status: DestinationStatus) {
    note(status.completedFiles) { file in
      // The end of all is told with what they hold.
      guard status.state == .active, let next = status.part(after: file) else { return }
      console.say("\(file) is complete, and it goes on in \(next)")
    }
  }

  /// - Parameter say: called for each that was not noted before.
  func note(_ files: [String], _ say: (String) -> Void = { _ in }) {
    seen.withLock { seen in
      let new = files.filter { seen.insert($0).inserted }
      for file in new {
        say(file)
        console.event("file_complete", ["file": file])
      }
      command?.run(for: new)
    }
  }

  /// Waits for what is run for them.
  /// - Returns: what went wrong, in the order of the files.
  func finish() async -> [LiveKitError] { await command?.finish() ?? [] }
}

extension DestinationStatus {
  /// Nil for the last one, and for what is no part.
  fileprivate func part(after file: String) -> String? {
    let all = [location] + parts
    return all.firstIndex(of: file).flatMap { all.dropFirst($0 + 1).first }
  }
}
