import Egress
import MediaBridge
import MediaCore

/// Tells of each file that is complete, once, and has run what is to be run for it.
struct CompletedFiles: Sendable {
  private let console: Console
  /// Nil where nothing is to be run.
  private let command: CompletionCommand?
  private let seen = Locked(Set<String>())

  init(console: Console, command: CompletionCommand? = nil) { (self.console, self.command) = (console, command) }

  func note(_ status: DestinationStatus) {
    let new = seen.withLock { seen in status.completedFiles.filter { seen.insert($0).inserted } }
    // The end of all is told with what they hold.
    for file in new where status.state == .active {
      if let next = status.part(after: file) { console.say("\(file) is complete, and it goes on in \(next)") }
    }
    note(new)
  }

  /// Those that are complete, each told of for the first time.
  func note(_ files: [String]) {
    for file in files { console.event("file_complete", ["file": file]) }
    command?.run(for: files)
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
