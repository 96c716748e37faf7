import Egress
import Foundation
import MediaBridge
import MediaCore

/// Tells of each file that is complete, once, and has run what is to be run for it.
struct CompletedFiles: Sendable {
  private let console: Console
  /// Nil where nothing is to be run.
  private let command: CompletionCommand?
  /// A file, and when its destination began: one that was added again may have written another of that name.
  private struct Completed: Hashable, Sendable {
    var path: String
    var begin: Date?
  }

  /// Held while they are told and their commands are queued, so that these come in order.
  private let seen = Locked(Set<Completed>())

  init(console: Console, command: CompletionCommand? = nil) { (self.console, self.command) = (console, command) }

  func note(_ status: DestinationStatus) {
    note(status.completedFiles, since: status.startedAt) { file in
      // The end of all is told with what they hold.
      guard status.state == .active, let next = status.part(after: file) else { return }
      console.say("\(file) is complete, and it goes on in \(next)")
    }
  }

  /// - Parameters:
  ///   - begin: of their destination; nil for what belongs to none.
  ///   - say: called for each that was not noted before.
  func note(_ files: [String], since begin: Date? = nil, _ say: (String) -> Void = { _ in }) {
    seen.withLock { seen in
      let new = files.filter { seen.insert(Completed(path: $0, begin: begin)).inserted }
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
