import BridgeTesting
import Foundation
import LiveKitProtocol
import Logging
import MediaCore
import Testing

@testable import MediaBridge

/// Calls whose payloads are streams: version 2.
@Suite struct RpcStreamTests {
  private static let requestTopic = "lk.rpc_request"
  private static let responseTopic = "lk.rpc_response"
  private let logger = Logger(label: "test")

  @Test func payloadsOfAnyLengthGoBothWays() async throws {
    try await withTwoRooms { alice, bob in
      try await bob.registerRpcMethod("upper") { $0.payload.uppercased() }
      for text in ["", String(repeating: "aé€😀", count: 25_000)] {
        let answer = try await alice.localParticipant.performRpc(
          destinationIdentity: "bob", method: "upper", payload: text)
        #expect(answer == text.uppercased())
      }
    }
  }

  @Test func handlersOfStreamsGetNoCalls() async throws {
    try await withTwoRooms { alice, bob in
      let read = Collector<String>()
      for room in [alice, bob] {
        for topic in [Self.requestTopic, Self.responseTopic, "own"] {
          try await room.registerTextStreamHandler(for: topic) { reader, _ in read.add(try await reader.readAll()) }
          try await room.registerByteStreamHandler(for: topic) { reader, _ in read.add(reader.info.topic) }
        }
      }
      try await bob.registerRpcMethod("greet") { "hello \($0.payload)" }
      let answer = try await alice.localParticipant.performRpc(
        destinationIdentity: "bob", method: "greet", payload: "alice")
      #expect(answer == "hello alice")
      let bytes = try await alice.localParticipant.streamBytes(for: Self.requestTopic)
      try await bytes.close()
      try await alice.localParticipant.sendText("what comes behind", for: "own")
      try await eventually("what comes behind") { read.values == ["what comes behind"] }
    }
  }

  // MARK: What may not count

  /// Runs a call that bob never answers by himself.
  private func withCall(
    _ body: (_ alice: Room, _ bob: Room, _ id: String, _ call: Task<String, any Error>) async throws -> Void
  ) async throws {
    try await withTwoRooms { alice, bob in
      let ids = Collector<String>()
      try await bob.registerRpcMethod("endless") { call in
        ids.add(call.requestId)
        try await Task.sleep(for: .seconds(600))
        return ""
      }
      let call = Task {
        try await alice.localParticipant.performRpc(
          destinationIdentity: "bob", method: "endless", payload: "", responseTimeout: 600)
      }
      try await eventually("the call") { ids.count == 1 }
      try await body(alice, bob, ids.values[0], call)
    }
  }

  private func header(_ stream: String, answering id: String, _ content: String? = nil) -> Livekit_DataStream.Header {
    var header = Livekit_DataStream.Header()
    (header.streamID, header.topic, header.textHeader) = (stream, Self.responseTopic, .init())
    header.attributes = ["lk.rpc_request_id": id]
    if let content { header.inlineContent = Data(content.utf8) }
    return header
  }

  private func receive(_ value: Livekit_DataPacket.OneOf_Value, from sender: String, in room: Room) {
    room.receive(Livekit_DataPacket(value, to: []), from: sender, logger)
  }

  private func code(of call: Task<String, any Error>) async -> Int? {
    do {
      _ = try await call.value
      return nil
    } catch { return (error as? RpcError)?.code }
  }

  /// LiveKit's newest clients put a short answer into one packet.
  @Test func onlyTheRecipientAnswers() async throws {
    try await withCall { alice, _, id, call in
      receive(.streamHeader(header("1", answering: id, "mallory's")), from: "mallory", in: alice)
      receive(.streamHeader(header("2", answering: "another", "another's")), from: "bob", in: alice)
      receive(.streamHeader(header("3", answering: id, "bob's")), from: "bob", in: alice)
      let answer = try await call.value
      #expect(answer == "bob's")
    }
  }

  @Test func anAnswerThatIsGivenUpIsAnError() async throws {
    try await withCall { alice, _, id, call in
      receive(.streamHeader(header("1", answering: id)), from: "bob", in: alice)
      var trailer = Livekit_DataStream.Trailer()
      (trailer.streamID, trailer.reason) = ("1", "changed my mind")
      receive(.streamTrailer(trailer), from: "bob", in: alice)
      #expect(await code(of: call) == RpcError.BuiltInError.applicationError.code)
    }
  }

  /// Neither does it outlive its call.
  @Test func anAnswerThatNeverEndsEndsWithItsCall() async throws {
    try await withCall { alice, _, id, call in
      receive(.streamHeader(header("1", answering: id)), from: "bob", in: alice)
      try await eventually("its reader") { alice.messages.streams.isOpen("1", from: "bob") }
      call.cancel()
      await #expect(throws: CancellationError.self) { try await call.value }
      try await eventually("the end of the stream") { !alice.messages.streams.isOpen("1", from: "bob") }
    }
  }

  @Test func anotherVersionIsRefused() async throws {
    try await withCall { alice, _, id, call in
      let attributes = [
        "lk.rpc_request_id": id, "lk.rpc_request_method": "endless", "lk.rpc_request_version": "3",
        "lk.rpc_request_response_timeout_ms": "8000",
      ]
      let options = StreamTextOptions(
        topic: Self.requestTopic, attributes: attributes, destinationIdentities: ["bob"])
      try await alice.localParticipant.sendText("", options: options)
      #expect(await code(of: call) == RpcError.BuiltInError.unsupportedVersion.code)
    }
  }

  // MARK: Bounds

  private func reader(_ content: String, _ total: Locked<Int>) -> TextStreamReader {
    let (sink, source) = StreamSink.make(countedIn: total, inflating: nil) {}
    _ = sink.add(Data(content.utf8))
    sink.finish(nil)
    return TextStreamReader(info: TextStreamInfo(Livekit_DataStream.Header(), .init()), source: source)
  }

  /// What is compressed is longer than what came: it counts as it is held.
  @Test func noMoreIsHeldThanTheLimit() async throws {
    let total = Locked(UnreadBytes.totalLimit - 5)
    do {
      let held = UnreadBytes(of: total)
      let text = try await reader("hello", Locked(0)).payload(countedIn: held, else: .requestPayloadTooLarge)
      #expect(text == "hello" && total.withLock { $0 } == UnreadBytes.totalLimit)
      let error = await #expect(throws: RpcError.self) {
        try await reader("!", Locked(0)).payload(countedIn: UnreadBytes(of: total), else: .requestPayloadTooLarge)
      }
      #expect(error?.code == RpcError.BuiltInError.requestPayloadTooLarge.code)
      withExtendedLifetime(held) {}
    }
    #expect(total.withLock { $0 } == UnreadBytes.totalLimit - 5, "the call is over")
  }
}
