import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaCore
import Testing

@testable import MediaBridge

/// What somebody sends goes another way than word that they have left.
@Suite struct LateMessagesTests {
  private let room = Room()
  private let read = Collector<Result<String, StreamError>>()
  private let session: RoomSession

  init() async throws {
    session = RoomSession(room: room, options: RoomOptions(), connect: ConnectOptions())
    try await room.registerTextStreamHandler(for: "t") { [read] reader, _ in
      do { read.add(.success(try await reader.readAll())) } catch let error as StreamError { read.add(.failure(error)) }
    }
    var bot = Livekit_ParticipantInfo()
    (bot.identity, bot.sid) = ("bot", "PA_bot")
    await session.perform(.meet(bot), "bot")
  }

  private func receive(_ value: Livekit_DataPacket.OneOf_Value) async throws {
    var packet = Livekit_DataPacket(value, to: [])
    (packet.participantIdentity, packet.participantSid) = ("bot", "PA_bot")
    let bytes: [UInt8] = try packet.serializedBytes()
    await session.receive(bytes)
  }

  private func begin(_ text: String) async throws {
    var header = Livekit_DataStream.Header()
    (header.streamID, header.topic, header.textHeader) = ("x", "t", .init())
    try await receive(.streamHeader(header))
    var chunk = Livekit_DataStream.Chunk()
    (chunk.streamID, chunk.content) = ("x", Data(text.utf8))
    try await receive(.streamChunk(chunk))
  }

  private func end() async throws {
    var trailer = Livekit_DataStream.Trailer()
    trailer.streamID = "x"
    try await receive(.streamTrailer(trailer))
  }

  @Test func aTextThatComesBehindItsSenderIsWhole() async throws {
    await session.perform(.leave, "bot")
    try await begin("bye")
    try await end()
    try await eventually("the text") { read.values == [.success("bye")] }
  }

  @Test func aTextWhoseEndComesBehindItsSenderIsWhole() async throws {
    try await begin("bye")
    await session.perform(.leave, "bot")
    try await end()
    try await eventually("the text") { read.values == [.success("bye")] }
  }

  @Test func whatNobodyEndsIsCutInTheEnd() async throws {
    try await begin("by")
    await session.perform(.leave, "bot")
    try await eventually("the cut") { read.values == [.failure(.terminated)] }
  }
}
