import Egress
import Foundation
import MediaBridge
import MediaCore

/// Runs a command for files that are complete, one after the other, while the recording goes on.
final class CompletionCommand: Sendable {
  private struct State {
    var backlog = CompletionBacklog()
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
      state.backlog.add(files)
      for file in files {
        state.last = Task { [self, before = state.last] in
          await before?.value
          await run(for: file)
        }
      }
    }
    tellIfBehind()
  }

  /// Nothing is lost, and nothing is ended: what hangs is for somebody to see.
  private func tellIfBehind() {
    guard let news = state.withLock({ $0.backlog.news(at: .now) }) else { return }
    let seconds = news.running.components.seconds
    let files = news.waiting == 1 ? "1 file waits" : "\(news.waiting) files wait"
    console.say("The command of --on-complete has run for \(news.file) for \(seconds) s, and \(files) behind it.")
    console.event("completion_slow", ["file": news.file, "waiting": news.waiting, "seconds": seconds])
  }

  /// Waits for all of them, and says so.
  /// - Returns: what went wrong, in the order of the files.
  func finish() async -> [LiveKitError] {
    if let rest = state.withLock({ $0.backlog.rest }) {
      let files = rest.left == 1 ? "" : ", and \(rest.left - 1) more wait"
      console.say("Waiting for the command of --on-complete: it runs for \(rest.file)\(files).")
      console.event("completion_waiting", ["file": rest.file, "left": rest.left])
    }
    await state.withLock { $0.last }?.value
    return state.withLock { $0.failures }
  }

  private func run(for file: String) async {
    state.withLock { $0.backlog.begin(at: .now) }
    let watcher = Task {
      try? await Task.sleep(for: CompletionBacklog.patience)
      if !Task.isCancelled { tellIfBehind() }
    }
    defer {
      watcher.cancel()
      state.withLock { $0.backlog.end() }
    }
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
