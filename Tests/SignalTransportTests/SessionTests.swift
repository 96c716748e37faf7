import BridgeTesting
import LiveKitProtocol
import MediaCore
import NIOCore
import NIOWebSocket
import Testing

@testable import SignalTransport

@Suite("After the upgrade", .serialized, .timeLimit(.minutes(2)))
struct SessionTests {
  /// What a client that only reads gets to see of `script`.
  private func session(
    joinTimeout: Duration? = nil, messageLimit: Int? = nil, _ script: @escaping @Sendable (Socket) -> Void
  ) async throws -> (responses: [Livekit_SignalResponse], reason: SignalError?, server: String) {
    try await ScriptedServer.with(.webSocket(script)) { server async throws in
      var connector = try server.connector()
      connector.joinTimeout = joinTimeout
      if let messageLimit { connector.messageLimit = messageLimit }
      let connection = try await connector.connect()
      let (responses, reason) = await connection.untilEnd()
      try await eventually("the socket is left open") { server.openConnections == 0 }
      await connection.close()
      return (responses, reason, "127.0.0.1:\(server.port)")
    }
  }

  @Test func aServerThatClosesBeforeTheJoin() async throws {
    let cut = try await session { $0.channel.close(promise: nil) }
    #expect(cut.responses.isEmpty)
    #expect(cut.reason == .lost(cut.server, "it was cut off"))
    let said = try await session { $0.send(.connectionClose, [0x03, 0xe9] + Array("full\u{7}\nhouse".utf8)) }
    #expect(said.responses.isEmpty && said.reason == .closed("full"))
    let code = try await session { $0.send(.connectionClose, [0x03, 0xe9]) }
    #expect(code.reason == .closed("goingAway"))
  }

  @Test func whatCannotBeSentIsTold() async throws {
    try await ScriptedServer.with(.webSocket { $0.channel.close(promise: nil) }) { server async throws in
      let connection = try await server.connector().connect()
      _ = await connection.untilEnd()
      try await eventually("the socket is left open") { server.openConnections == 0 }
      await connection.close()
      let error = await #expect(throws: SignalError.self) {
        try await connection.send(confirming: Livekit_SignalRequest())
      }
      #expect(error == .lost("127.0.0.1:\(server.port)", "it was cut off"))
    }
  }

  @Test func aServerThatNeverJoinsUsIsGivenUp() async throws {
    let end = try await session(joinTimeout: .milliseconds(100)) { _ in }
    #expect(end.responses.isEmpty && end.reason == .timedOut(end.server))
  }

  @Test func garbageEndsTheSession() async throws {
    let early = try await session { $0.send(.binary, [0xff, 0xff]) }
    #expect(early.responses.isEmpty)
    #expect(early.reason == .badMessage(early.server, "2 bytes that are no protobuf message"))
    let late = try await session {
      $0.join()
      $0.send(.binary, [UInt8](repeating: 0xff, count: 300))
      $0.send(Socket.large(1))
    }
    #expect(late.responses.count == 1, "the join, and nothing behind the garbage")
    #expect(late.reason == .badMessage(late.server, "300 bytes that are no protobuf message"))
  }

  @Test func textEndsTheSession() async throws {
    let end = try await session { $0.send(.text, Array("{\"join\":{}}".utf8)) }
    #expect(end.reason == .badMessage(end.server, "text instead of protobuf"))
  }

  @Test func anotherFirstMessageIsNamed() async throws {
    let end = try await session { $0.send(Socket.large(1)) }
    #expect(end.reason == .badMessage(end.server, "an unexpected 'roomUpdate'"))
    #expect(end.reason?.description.contains("does not speak LiveKit's protocol") == true)
  }

  @Test func fragmentsMakeAMessage() async throws {
    let bytes = try Socket.large(5000).serializedBytes() as [UInt8]
    let end = try await session { socket in
      socket.join()
      for (index, start) in stride(from: 0, to: bytes.count, by: 100).enumerated() {
        let piece = Array(bytes[start..<min(start + 100, bytes.count)])
        socket.send(index == 0 ? .binary : .continuation, piece, fin: start + 100 >= bytes.count)
        if index == 3 { socket.send(.ping, [1, 2]) }
      }
      socket.send(.connectionClose, [])
    }
    #expect(end.responses.map(\.roomUpdate.room.metadata.count) == [0, 5000])
  }

  @Test func aFragmentOfNothingEndsTheSession() async throws {
    let end = try await session {
      $0.join()
      $0.send(.continuation, [1, 2, 3])
    }
    #expect(end.responses.count == 1 && end.reason == .badMessage(end.server, "broken WebSocket frames"))
  }

  @Test func aLargeMessagePasses() async throws {
    let end = try await session {
      $0.join()
      $0.send(Socket.large(4 << 20))
      $0.send(.connectionClose, [])
    }
    #expect(end.responses.last?.roomUpdate.room.metadata.utf8.count == 4 << 20)
  }

  @Test(arguments: [true, false]) func aHugeMessageEndsTheSession(inOneFrame: Bool) async throws {
    let limit = 1 << 20
    let end = try await session(messageLimit: limit) { socket in
      socket.join()
      let piece = [UInt8](repeating: 0, count: limit / 8)
      if inOneFrame { return socket.send(.binary, [UInt8](repeating: 0, count: limit + 1)) }
      for number in 0..<9 { socket.send(number == 0 ? .binary : .continuation, piece, fin: false) }
    }
    #expect(end.responses.count == 1)
    #expect(end.reason == .badMessage(end.server, "a message of more than 64 MiB or 1024 fragments"))
  }

  @Test func manyTinyFragmentsEndTheSession() async throws {
    let end = try await session { socket in
      socket.join()
      for number in 0..<1100 { socket.send(number == 0 ? .binary : .continuation, [0], fin: false) }
    }
    #expect(end.reason == .badMessage(end.server, "a message of more than 64 MiB or 1024 fragments"))
  }

  /// 1 s is the shortest that a server can ask for.
  @Test func aServerThatDoesNotPongIsLost() async throws {
    try await ScriptedServer.with(.webSocket { $0.join(pingInterval: 1, pingTimeout: 1) }) { server async throws in
      let connection = try await server.connector().connect()
      let end = await connection.untilEnd()
      #expect(end.reason == .lost("127.0.0.1:\(server.port)", "it has not answered for 1 s"))
      try await eventually { server.messages.contains { $0.pingReq.timestamp > 0 } }
      try await eventually { server.openConnections == 0 }
    }
  }

  @Test func aLeaveIsHandedOnAndEndsTheConnection() async throws {
    var leave = Livekit_SignalResponse()
    leave.leave.reason = .roomDeleted
    let end = try await session { [leave] in
      $0.join()
      $0.send(leave)
    }
    #expect(end.responses.last == leave && end.reason == .closed("it told this participant to leave (roomDeleted)"))
  }

  @Test func aFloodThatNobodyReadsIsBounded() async throws {
    let end = try await ScriptedServer.with(
      .webSocket { socket in
        socket.join()
        let bytes = ByteBuffer(bytes: (try? Socket.large(1).serializedBytes()) ?? [])
        for _ in 0..<5000 {
          socket.channel.write(WebSocketFrame(fin: true, opcode: .binary, data: bytes), promise: nil)
        }
        socket.channel.flush()
      }
    ) { server async throws in
      let connection = try await server.connector().connect()
      try await eventually { connection.closeReason != nil }
      return await connection.untilEnd()
    }
    #expect(end.responses.count == SignalHandler.waitingLimit)
    guard case .lost(_, let reason) = end.reason else {
      Issue.record("\(String(describing: end.reason))")
      return
    }
    #expect(reason.contains("4096 messages"))
  }

  /// A peer that no longer reads must not hold up the end: without a bound this runs into the time limit.
  @Test func closingDoesNotWaitForADeafServer() async throws {
    try await ScriptedServer.with(
      .webSocket { socket in
        socket.join()
        socket.channel.setOption(.autoRead, value: false).whenComplete { _ in }
      }
    ) { server in
      let connection = try await server.connector().connect()
      var request = Livekit_SignalRequest()
      request.updateMetadata.metadata = String(repeating: "x", count: 12 << 20)
      connection.send(request)
      await connection.close()
      #expect(server.messages.isEmpty, "it was not deaf")
      #expect(connection.closeReason == nil)
    }
  }
}
