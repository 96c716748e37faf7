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

/// Returns at Ctrl-C or SIGTERM, or when the room is left; `room.disconnectError` tells the two apart. After it another
/// Ctrl-C ends the process.
public func untilInterrupted(in room: Room) async {
  let (pause, end) = AsyncStream<Void>.makeStream()
  let events = room.events
  let watch = Task {
    for await _ in events {}
    end.finish()
  }
  // It may have been left before anybody listened.
  if room.connectionState == .disconnected { end.finish() }
  let sources = [SIGINT, SIGTERM].map { number in
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number)
    source.setEventHandler {
      signal(number, SIG_DFL)
      end.finish()
    }
    source.resume()
    return source
  }
  for await _ in pause {}
  watch.cancel()
  for source in sources { source.cancel() }
}
