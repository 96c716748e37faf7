import Egress
import Foundation
import MediaBridge
import MediaCore

/// Runs a command for files that are complete, one after the other, while the recording goes on.
final class CompletionCommand: Sendable {
  private struct State {
    /// Files whose command has not ended.
    var left = 0
    var last: Task<Void, Never>?
    var failures: [LiveKitError] = []
  }

  private let command: String
  private let console: Console
  private let state = Locked(State())

  /// - Parameter command: for a shell; `$1` is the file.
  init(_ command: String, console: Console) { (self.command, self.console) = (command, console) }

  func run(for files: [String]) {
    state.withLock { state in
      for file in files {
        state.last = Task { [self, before = state.last] in
          await before?.value
          await run(for: file)
          self.state.withLock { $0.left -= 1 }
        }
        state.left += 1
      }
    }
  }

  /// Waits for all of them, and says so.
  /// - Returns: what went wrong, in the order of the files.
  func finish() async -> [LiveKitError] {
    if state.withLock({ $0.left > 0 }) { console.say("Waiting for the command of --on-complete…") }
    await state.withLock { $0.last }?.value
    return state.withLock { $0.failures }
  }

  private func run(for file: String) async {
    guard let process = begin(for: file) else {
      return fail(file, "could not be run: \(String(cString: strerror(errno)))")
    }
    let status = await ShellCommand.exitStatus(of: process)
    guard status == 0 else { return fail(file, "ended with \(status)") }
    console.event("completed_command", ["file": file, "status": 0])
  }

  /// What it says is for people; standard output may be JSON.
  private func begin(for file: String) -> pid_t? {
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard nothing >= 0 else { return nil }
    defer { close(nothing) }
    return ShellCommand.spawn(command, [file], reading: nothing, writing: STDERR_FILENO, inheritsFiles: false)
  }

  private func fail(_ file: String, _ what: String) {
    let error = LiveKitError(.output, "--on-complete for \(file) \(what); the file is complete")
    console.say(error.message)
    console.event("completed_command", ["file": file, "message": error.message])
    state.withLock { $0.failures.append(error) }
  }
}
