// Talks in a room: tells what others write, saves the files that they send, and sends what is typed, until Ctrl-C.
//
//     swift run Messages FOLDER [URL TOKEN]
//
// Each line of standard input is a text; `/file PATH` sends that file, and `/call IDENTITY METHOD PAYLOAD` calls a method
// of somebody (RPC). Others may call `upper` and `wait` here. It shows streams of texts and of bytes, which may be of any
// length, and which end with an error where they are not whole. Without URL and TOKEN it takes LIVEKIT_URL and
// LIVEKIT_TOKEN.

import ExampleSupport
import Foundation
import MediaBridge

@main struct Messages {
  /// That of the chats of LiveKit's own programs.
  private static let topic = "lk.chat"

  static func main() async {
    await runExample("FOLDER") { arguments in
      let folder = URL(filePath: arguments.own[0], directoryHint: .isDirectory)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let room = Room(roomOptions: RoomOptions(audioPlayback: .off))
      try await receive(in: room, folder)
      try await answer(in: room)
      try await room.connect(
        url: arguments.url, token: arguments.token, connectOptions: ConnectOptions(autoSubscribe: false))
      print("joined")
      let sending = Task { await send(typedLines(), by: room.localParticipant) }
      await untilInterrupted(in: room)
      // A file that is being sent is taken back, which those who get it are told.
      sending.cancel()
      await sending.value
      await room.disconnect()
      if let error = room.disconnectError { throw error }
    }
  }

  private static func receive(in room: Room, _ folder: URL) async throws {
    try await room.registerTextStreamHandler(for: topic) { text, sender in
      await tell(sender) { quoted(try await text.readAll()) }
    }
    try await room.registerByteStreamHandler(for: topic) { bytes, sender in
      await tell(sender) { try await bytes.writeToFile(in: folder).path() }
    }
  }

  private static func answer(in room: Room) async throws {
    try await room.registerRpcMethod("upper") { call in
      guard !call.payload.isEmpty else { throw RpcError(code: 1, message: "there is no text") }
      return call.payload.uppercased()
    }
    try await room.registerRpcMethod("wait") { call in
      guard let seconds = Double(call.payload) else {
        // An error that is no RpcError stays here: its caller only gets to know that there was one.
        throw LiveKitError(.invalidParameter, "'\(call.payload)' is no number of seconds")
      }
      try await Task.sleep(for: .seconds(seconds))
      return "\(call.callerIdentity) has waited"
    }
  }

  private static func tell(_ sender: String, _ what: () async throws -> String) async {
    // All of it is chosen by strangers, an error of their methods, too.
    do { print(printable("\(sender): \(try await what())")) } catch { print(printable("\(sender): \(error)")) }
  }

  /// As Swift writes it.
  private static func quoted(_ text: String) -> String { text.debugDescription }

  /// Until there is no more, or the task is cancelled.
  private static func send(_ lines: AsyncStream<String>, by participant: LocalParticipant) async {
    for await line in lines {
      do {
        if line.hasPrefix("/file ") {
          try await participant.sendFile(URL(filePath: String(line.dropFirst(6))), for: topic)
        } else if line.hasPrefix("/call ") {
          await call(line.split(separator: " ", maxSplits: 3).dropFirst().map(String.init), by: participant)
        } else {
          try await participant.sendText(line, for: topic)
        }
      } catch { print("not sent: \(error)") }
    }
  }

  private static func call(_ words: [String], by participant: LocalParticipant) async {
    guard words.count == 3 else { return print("not sent: it is /call IDENTITY METHOD PAYLOAD") }
    await tell(words[0]) {
      quoted(
        try await participant.performRpc(
          destinationIdentity: words[0], method: words[1], payload: words[2], responseTimeout: 3))
    }
  }

  /// Read by a thread of its own, which waits for them.
  private static func typedLines() -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream<String>.makeStream()
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    return lines
  }
}
