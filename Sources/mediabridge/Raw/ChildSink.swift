import Egress
import Foundation
import MediaBridge
import MediaCore

/// The standard input of a command, which is begun anew when it dies, and ended with all that it has begun.
final class ChildSink: RawSink {
  private struct Child {
    var process: pid_t
    var input: Int32
    let begun = MediaTime.now
    /// Nil where it prints what it likes.
    var output: ChildOutput?
  }
  private struct State {
    var child: Child?
    var isAbandoned = false
    var restarts = RestartLimit()
    var header: [UInt8] = []
    /// What was said besides media, which the next one has to know, too.
    var needed = NeededPieces<RawNote>()
  }
  private static let pause: UInt32 = 500_000
  /// How long it may take to end by itself, as long as to take something, and when it is told to, in steps.
  private static let grace = (alone: 1500, told: 100)
  private static let step: UInt32 = 20_000

  /// Commands begin one after the other: the standard input of one would never end while another holds it open.
  private static let turns = Locked(())

  let name: String
  /// One that recognises speech reads nothing while it is at work on a whole sentence.
  let patience = Duration.seconds(30)
  private let command: String
  private let environment: [String: String]
  private let replies: Replies?
  private let tell: @Sendable (String) -> Void
  private let state = Locked(State())

  /// - Parameters:
  ///   - environment: besides the program's own.
  ///   - replies: sends into the room what it prints.
  ///   - tell: what happens to it, for people.
  init(
    _ command: String, environment: [String: String], replies: Replies?, tell: @escaping @Sendable (String) -> Void
  ) {
    (self.command, self.environment, self.replies, self.tell) = (command, environment, replies, tell)
    let identity = environment["MEDIABRIDGE_IDENTITY"].map { " for \($0)" } ?? ""
    name = "'\(command)'\(identity)"
  }

  func begin(header: [UInt8]) throws(LiveKitError) {
    state.withLock { $0.header = header }
    do throws(LiveKitError) { try start() } catch { try revive(error) }
  }

  func write(_ piece: RawPiece, number: Int) throws(LiveKitError) {
    while true {
      do throws(LiveKitError) {
        try RawDescriptor.write(piece, to: state.withLock { $0.child?.input ?? -1 }, of: name)
        return state.withLock { $0.needed.keep(piece) }
      } catch { try revive(error) }
    }
  }

  /// Begins it anew, also where it dies of what it is told before all else.
  /// - Parameter reason: why it could not be written to.
  /// - Throws: it has ended by itself, died too often, or is there and takes nothing.
  private func revive(_ reason: LiveKitError) throws(LiveKitError) {
    var reason = reason
    while true {
      try noteDeath(reason)
      do throws(LiveKitError) { return try start() } catch { reason = error }
    }
  }

  /// - Throws: it is not to be begun anew, and why.
  private func noteDeath(_ gone: LiveKitError) throws(LiveKitError) {
    guard gone.code == .readerGone else { throw gone }
    let ran = state.withLock { $0.child.map { .now - $0.begun } ?? .zero }
    let status = reap().status
    if status == 0 || state.withLock({ $0.isAbandoned }) { throw gone }
    let (mayBegin, deaths) = state.withLock { ($0.restarts.mayBegin(afterRunning: ran), $0.restarts.deaths) }
    guard mayBegin else {
      throw LiveKitError(
        .output, "\(name): the command died \(deaths) times, the last time with \(status); try it in a shell",
        fault: .destination)
    }
    tell("\(name): the command died with \(status); it is begun anew.")
    usleep(Self.pause)
  }

  private func start() throws(LiveKitError) {
    guard let child = Self.turns.withLock({ _ in makeChild() }) else {
      throw LiveKitError(.output, "\(name): the command cannot be begun: \(String(cString: strerror(errno)))")
    }
    let (header, needed, isAbandoned) = state.withLock { state in
      state.child = child
      return (state.header, state.needed.all, state.isAbandoned)
    }
    if isAbandoned {
      _ = reap()
      throw RawDescriptor.gone(name)
    }
    try RawDescriptor.write(header[...], to: child.input, of: name)
    for piece in needed { try RawDescriptor.write(piece, to: child.input, of: name) }
  }

  private func makeChild() -> Child? {
    guard let input = Pipe() else { return nil }
    defer { close(input.out) }
    guard let replies else {
      guard let process = spawn(reading: input.out, writing: nil) else { return input.fail() }
      return Child(process: process, input: input.in)
    }
    guard let output = Pipe() else { return input.fail() }
    defer { close(output.in) }
    guard let process = spawn(reading: input.out, writing: output.in) else {
      close(output.out)
      return input.fail()
    }
    return Child(
      process: process, input: input.in,
      output: ChildOutput(output.out, replies.form) { [name] in replies.take($0, of: name) })
  }

  /// Not for children, but for the ends that they are given.
  private struct Pipe {
    let out: Int32
    let `in`: Int32

    init?() {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { return nil }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (out, `in`) = (ends[0], ends[1])
    }

    func fail() -> Child? {
      close(`in`)
      return nil
    }
  }

  private func spawn(reading input: Int32, writing output: Int32?) -> pid_t? {
    ShellCommand.spawn(command, environment: environment, reading: input, writing: output, inheritsFiles: true)
  }

  /// Waits a while for the command to end, unless it was given up, and ends what is left of it.
  /// - Returns: its exit status, or 128 and the signal, and whether it had to be told.
  private func reap() -> (status: Int32, wasTold: Bool) {
    guard
      let child = state.withLock({ state in
        defer { state.child = nil }
        return state.child
      })
    else { return (0, false) }
    close(child.input)
    defer {
      kill(-child.process, SIGKILL)
      child.output?.finish()
    }
    var (status, told): (Int32, Int?) = (0, nil)
    for step in 0... {
      if waitpid(child.process, &status, WNOHANG) != 0 { break }
      if told == nil, step == Self.grace.alone || state.withLock({ $0.isAbandoned }) {
        told = step
        kill(-child.process, SIGTERM)
      }
      if let told, step == told + Self.grace.told { kill(-child.process, SIGKILL) }
      usleep(Self.step)
    }
    return (ShellCommand.exitStatus(status), told != nil)
  }

  /// - Throws: it has failed with what it got. What had to be told to end may have been through long before.
  func end() throws(LiveKitError) {
    let (status, wasTold) = reap()
    guard status != 0 else { return }
    let message = "\(name): the command ended with \(status)"
    guard wasTold else { throw LiveKitError(.output, message, fault: .destination) }
    tell("\(message).")
  }

  /// Tells it to end, and ends it where it goes on.
  func abandon() async {
    let child = state.withLock { state in
      state.isAbandoned = true
      return state.child?.process
    }
    guard let child, send(SIGTERM, to: child) else { return }
    for _ in 0..<Self.grace.told where send(0, to: child) { try? await Task.sleep(for: .microseconds(Self.step)) }
    _ = send(SIGKILL, to: child)
  }

  /// - Returns: false where it has ended.
  private func send(_ number: Int32, to child: pid_t) -> Bool {
    // Nobody waits for its end yet, so that no other process has its number.
    state.withLock { $0.child?.process == child && kill(-child, number) == 0 }
  }
}
