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
    let child = try begin(path)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    guard status == 0 else {
      throw Failure(description: "the editor '\(command)' failed; $VISUAL or $EDITOR names another one")
    }
  }

  private func begin(_ path: String) throws -> pid_t {
    var (child, attributes) = (pid_t(), posix_spawnattr_t())
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    ShellCommand.setSignals(&attributes)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    // A shell that stays there must not end by what is typed for the editor, which has the signals itself.
    let words = ["/bin/sh", "-c", "trap : INT QUIT; \(command) \"$1\"", "sh", path]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    let code = posix_spawn(&child, "/bin/sh", nil, &attributes, &arguments, environ)
    guard code == 0 else { throw Failure(description: "/bin/sh: \(String(cString: strerror(code)))") }
    return child
  }
}
