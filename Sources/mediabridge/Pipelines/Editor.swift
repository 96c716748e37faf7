import Foundation
import Glibc

/// The program in which a person edits text.
struct Editor {
  /// A command of the shell, as `$EDITOR` is for every program.
  let command: String

  static var ofEnvironment: Editor {
    let environment = ProcessInfo.processInfo.environment
    let wanted = [environment["VISUAL"], environment["EDITOR"]].compactMap { $0 }.first { !$0.isEmpty }
    return Editor(command: wanted ?? "vi")
  }

  /// Why a text was not edited.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Returns when the editor has ended. It stays in this process's group, and so has the terminal, which Foundation's
  /// `Process` would take from it. What is typed there to interrupt is for it alone, as with the shell's `system`.
  func edit(_ path: String) throws {
    let interrupt = signal(SIGINT, SIG_IGN)
    let quit = signal(SIGQUIT, SIG_IGN)
    defer {
      signal(SIGINT, interrupt)
      signal(SIGQUIT, quit)
    }
    // A shell that stays there must not end by what is typed for the editor, which has the signals itself.
    let child = ShellCommand.spawn(
      "trap : INT QUIT; \(command) \"$1\"", [path], reading: STDIN_FILENO, writing: nil, hasOwnGroup: false,
      inheritsFiles: true)
    guard let child else { throw Failure(description: "/bin/sh: \(String(cString: strerror(errno)))") }
    guard ShellCommand.awaitEnd(of: child) == 0 else {
      throw Failure(description: "the editor '\(command)' failed; $VISUAL or $EDITOR names another one")
    }
  }
}
