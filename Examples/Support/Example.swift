// What the programs of this folder do alike: how they are called, and how they end.

import Dispatch
import Foundation
public import MediaBridge

/// What an example was called with.
public struct ExampleArguments: Sendable {
  /// Its own, in the order of its usage.
  public let own: [String]
  public let url: String
  public let token: String

  init?(_ arguments: [String], own count: Int, environment: [String: String]) {
    guard arguments.count >= count else { return nil }
    let access =
      arguments.count == count
      ? [environment["LIVEKIT_URL"], environment["LIVEKIT_TOKEN"]].compactMap { $0 } : Array(arguments[count...])
    guard access.count == 2 else { return nil }
    (own, url, token) = (Array(arguments.prefix(count)), access[0], access[1])
  }
}

/// Runs an example. The room's URL and token follow its own arguments, or stand in the environment. The process ends
/// with 0, with 1 and what went wrong, or with 64 and the usage.
/// - Parameter names: of its own arguments, as the usage shows them.
public func runExample(_ names: String..., body: @Sendable (ExampleArguments) async throws -> Void) async {
  let process = ProcessInfo.processInfo
  guard
    let arguments = ExampleArguments(
      Array(process.arguments.dropFirst()), own: names.count, environment: process.environment)
  else {
    let usage = ([process.processName] + names + ["[URL TOKEN]"]).joined(separator: " ")
    fail("usage: \(usage)\nWithout URL and TOKEN it takes LIVEKIT_URL and LIVEKIT_TOKEN.", status: 64)
  }
  do { try await body(arguments) } catch {
    let message = error is CocoaError ? error.localizedDescription : "\(error)"
    fail("\(process.processName): \(message)", status: 1)
  }
}

private func fail(_ message: String, status: Int32) -> Never {
  FileHandle.standardError.write(Data("\(message)\n".utf8))
  exit(status)
}

/// Text of strangers, for a terminal whose cursor it is not to move.
public func printable(_ text: String) -> String {
  text.unicodeScalars.map { scalar in
    let isPlain = ![.control, .format].contains(scalar.properties.generalCategory)
    return isPlain ? String(scalar) : scalar.escaped(asASCII: true)
  }
  .joined()
}

/// Returns at Ctrl-C, at SIGTERM, when the terminal is closed, when the room is left, or when its task is cancelled;
/// `room.disconnectError` says why a room was left. A second after it another Ctrl-C ends the process.
public func untilInterrupted(in room: Room) async {
  let (pause, end) = AsyncStream<Void>.makeStream()
  let events = room.events
  let watch = Task {
    for await _ in events {}
    end.finish()
  }
  // It may have been left before anybody listened.
  if room.connectionState == .disconnected { end.finish() }
  let numbers = outlivesTerminal ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
  let sources = numbers.map { number in
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number)
    source.setEventHandler { end.finish() }
    source.resume()
    return source
  }
  for await _ in pause {}
  watch.cancel()
  for source in sources { source.cancel() }
  // `timeout` signals a process and its group: what comes within a second is one signal.
  DispatchQueue.global().asyncAfter(deadline: .now() + 1) {
    for number in numbers { signal(number, SIG_DFL) }
  }
}

/// Whether whoever began this process had it ignore the end of the terminal, as `nohup` does.
private let outlivesTerminal: Bool = {
  let handler = signal(SIGHUP, SIG_IGN)
  signal(SIGHUP, handler)
  return address(handler) == address(SIG_IGN)
}()

/// Functions of C cannot be compared.
private func address(_ handler: sighandler_t?) -> Int { unsafeBitCast(handler, to: Int.self) }
