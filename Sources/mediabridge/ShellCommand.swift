import Foundation

/// Commands that a shell runs, with the signals as a shell has them, and the limit of descriptors that this program was
/// begun with.
enum ShellCommand {
  /// - Parameters:
  ///   - arguments: `$1` and so on.
  ///   - environment: besides the program's own.
  ///   - output: its standard output; nil for the program's own.
  ///   - hasOwnGroup: whether it has a process group of its own, and so no terminal.
  ///   - inheritsFiles: whether it has what else is open, as where whoever began this program meant it for the command. What
  ///     lives on after a recording is not to hold its files.
  /// - Returns: nil where it cannot be begun; `errno` says why.
  static func spawn(
    _ command: String, _ arguments: [String] = [], environment: [String: String] = [:], reading input: Int32,
    writing output: Int32?, hasOwnGroup: Bool = true, inheritsFiles: Bool
  ) -> pid_t? {
    var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    if let output { posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
    // One that is closed by then is no mistake.
    for descriptor in inheritsFiles ? [] : openFiles { posix_spawn_file_actions_addclose(&actions, descriptor) }
    setSignals(&attributes)
    posix_spawnattr_setpgroup(&attributes, 0)
    let group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
    posix_spawnattr_setflags(&attributes, Int16(group | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    let all = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let given: [String] = ["/bin/sh", "-c", limited(command), "sh"] + arguments
    var words: [UnsafeMutablePointer<CChar>?] = given.map { strdup($0) } + [nil]
    var values: [UnsafeMutablePointer<CChar>?] = all.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + values { free(text) } }
    var process = pid_t()
    let result = posix_spawn(&process, "/bin/sh", &actions, &attributes, &words, &values)
    errno = result
    return result == 0 ? process : nil
  }

  /// On the line of the command, so that a shell tells mistakes by its lines.
  private static func limited(_ command: String) -> String {
    DescriptorLimit.before.map { "ulimit -S -n \($0); \(command)" } ?? command
  }

  /// None is blocked, as most are on Dispatch's threads, and none ignored that this program ignores for itself.
  private static func setSignals(_ attributes: inout posix_spawnattr_t) {
    var (blocked, defaults) = (sigset_t(), sigset_t())
    sigemptyset(&blocked)
    sigemptyset(&defaults)
    for number in [SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ] { sigaddset(&defaults, number) }
    if !Interruption.outlivesTerminal { sigaddset(&defaults, SIGHUP) }
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
  }

  private static var openFiles: [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.compactMap { Int32($0) }.filter { $0 > STDERR_FILENO }
  }

  /// Returns when it has ended.
  static func exitStatus(of process: pid_t) async -> Int32 {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(returning: awaitEnd(of: process))
      }
    }
  }

  /// The same, which holds up its thread until then.
  static func awaitEnd(of process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return exitStatus(status)
  }

  /// - Parameter status: as `waitpid` tells it.
  /// - Returns: its exit status, or 128 and the signal.
  static func exitStatus(_ status: Int32) -> Int32 {
    status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
  }
}
