import BridgeTesting
import Foundation
import LiveKitProtocol
import Logging
import MediaCore
import Testing

@testable import MediaBridge

/// What becomes of packets as others send them.
@Suite struct RoomMessagesTests {
  /// 240 bytes, and what zlib makes of them.
  private static let text = String(repeating: "Tea for two, and two for tea. ", count: 8)
  private static let deflated = Data([
    0x0b, 0x49, 0x4d, 0x54, 0x48, 0xcb, 0x2f, 0x52, 0x28, 0x29, 0xcf, 0xd7, 0x51, 0x48, 0xcc, 0x4b, 0x01, 0x31, 0x20,
    0x02, 0xa9, 0x89, 0x7a, 0x0a, 0x21, 0xc3, 0x4e, 0x16, 0x00,
  ])

  private let room = Room()
  private let chats: Collector<String>
  private let read = Collector<Result<Data, StreamError>>()
  private let lines = Collector<String>()

  init() async throws {
    chats = Collector(room.events) { if case .chatMessageReceived(_, let chat) = $0 { chat.message } else { nil } }
    try await room.registerByteStreamHandler(for: "files") { [read] reader, _ in
      do { read.add(.success(try await reader.readAll())) } catch let error as StreamError { read.add(.failure(error)) }
    }
  }

  private func receive(
    _ value: Livekit_DataPacket.OneOf_Value, from sender: String = "alice", in room: Room? = nil
  ) {
    let logger = Logger(keeping: lines)
    (room ?? self.room).receive(Livekit_DataPacket(value, to: []), from: sender, logger)
  }

  private func header(_ topic: String, _ length: Int) -> Livekit_DataStream.Header {
    var header = Livekit_DataStream.Header()
    (header.streamID, header.topic, header.compression) = ("x", topic, .deflateRaw)
    header.totalLength = UInt64(length)
    if topic == "files" { header.byteHeader = .init() } else { header.textHeader = .init() }
    return header
  }

  private func receive(_ pieces: [Data], topic: String, length: Int, in room: Room? = nil) {
    receive(.streamHeader(header(topic, length)), in: room)
    for (index, piece) in pieces.enumerated() {
      var chunk = Livekit_DataStream.Chunk()
      (chunk.streamID, chunk.chunkIndex, chunk.content) = ("x", UInt64(index), piece)
      receive(.streamChunk(chunk), in: room)
    }
    var trailer = Livekit_DataStream.Trailer()
    trailer.streamID = "x"
    receive(.streamTrailer(trailer), in: room)
  }

  /// Deflate of blocks that are stored as they are (RFC 1951, 3.2.4).
  private func stored(_ blocks: Int, of size: Int = 65_535) -> [Data] {
    let (low, high) = (UInt8(size & 0xff), UInt8(size >> 8))
    return (1...blocks).map { number -> Data in
      let isLast: UInt8 = number == blocks ? 1 : 0
      return Data([isLast, low, high, ~low, ~high]) + Data(repeating: 7, count: size)
    }
  }

  // MARK: Compressed streams

  @Test func aCompressedTextIsTold() async throws {
    receive([Self.deflated.prefix(9), Self.deflated.dropFirst(9)], topic: "lk.chat", length: 240)
    try await eventually("the text") { chats.values == [Self.text] }
    var inline = header("lk.chat", 240)
    inline.inlineContent = Self.deflated
    receive(.streamHeader(inline))
    try await eventually("the one of one packet") { chats.values == [Self.text, Self.text] }
    #expect(lines.count == 0, "\(lines.values)")
  }

  @Test func compressedBytesAreRead() async throws {
    let blocks = stored(20)
    receive(blocks, topic: "files", length: 20 * 65_535)
    try await eventually("the bytes") { read.count == 1 }
    #expect(try read.values[0].get() == Data(repeating: 7, count: 20 * 65_535))
  }

  @Test func whatIsCompressedAndNotWholeEndsWithWhy() async throws {
    let cases: [(pieces: [Data], length: Int, error: StreamError)] = [
      ([Self.deflated], 241, .incomplete), ([Self.deflated], 239, .lengthExceeded),
      ([Self.deflated.dropLast(2)], 240, .incomplete), ([], 240, .incomplete),
      ([Data(repeating: 0xff, count: 9)], 240, .decodeFailed), ([Self.deflated, Data([1])], 240, .decodeFailed),
    ]
    for (index, each) in cases.enumerated() {
      receive(each.pieces, topic: "files", length: each.length)
      try await eventually("the end of \(index)") { read.count == index + 1 }
      #expect(read.values[index].error == each.error, "\(index)")
    }
  }

  /// A reader that is slower than its sender loses nothing by what the others are spared.
  @Test func whatIsCompressedWaitsAsItIsSent() async throws {
    let slow = Room()
    let (lengths, gate) = (Collector<Int>(), Outcome<Void, Never>())
    try await slow.registerByteStreamHandler(for: "files") { reader, _ in
      await gate.value()
      var length = 0
      for try await piece in reader { length += piece.count }
      lengths.add(length)
    }
    // 65,536 times the same byte, as zlib makes it, and a block that is empty and the last one.
    let begin: [UInt8] = [0xec, 0xc1, 0x21, 0x01, 0x00, 0x00, 0x00, 0x80, 0xa0, 0xe8, 0xff, 0xc7, 0x1e, 0x01, 0x0a]
    let piece = Data(begin + [UInt8](repeating: 0, count: 63) + [0x6a, 0x00, 0x00, 0x00, 0xff, 0xff])
    let count = UnreadBytes.limit / 65_536 + 9
    let pieces = Array(repeating: piece, count: count) + [Data([1, 0, 0, 0xff, 0xff])]
    receive(pieces, topic: "files", length: count * 65_536, in: slow)
    gate.settle(.success(()))
    try await eventually("all of it") { lengths.values == [count * 65_536] }
  }

  /// Nobody reads it here.
  @Test func noMoreIsKeptThanMayWait() async throws {
    let slow = Room()
    let (ends, gate) = (Collector<StreamError>(), Outcome<Void, Never>())
    try await slow.registerByteStreamHandler(for: "files") { reader, _ in
      await gate.value()
      do { _ = try await reader.readAll() } catch let error as StreamError { ends.add(error) }
    }
    let logger = Logger(label: "test")
    let blocks = stored(UnreadBytes.limit / 65_535 + 9)
    slow.receive(Livekit_DataPacket(.streamHeader(header("files", 1 << 30)), to: []), from: "alice", logger)
    for (index, piece) in blocks.enumerated() {
      var chunk = Livekit_DataStream.Chunk()
      (chunk.streamID, chunk.chunkIndex, chunk.content) = ("x", UInt64(index), piece)
      slow.receive(Livekit_DataPacket(.streamChunk(chunk), to: []), from: "alice", logger)
    }
    gate.settle(.success(()))
    try await eventually("its end") { ends.values == [.unreadLimitExceeded(UnreadBytes.limit)] }
  }

  /// Of each something is kept, and only those count that are read.
  @Test func textsThatAreNeverClosedFillNoMemory() {
    for number in 0..<300 {
      var opening = header("lk.chat", 240)
      opening.streamID = "\(number)"
      receive(.streamHeader(opening))
    }
    #expect(room.messages.compressed.withLock { $0.ids(of: "alice").count } <= IncomingStreams<Int>.limit + 1)
  }

  // MARK: What cannot be read

  @Test func whatIsEncryptedIsSaidOnceASender() {
    for sender in ["alice", "alice", "bob"] { receive(.encryptedPacket(.init()), from: sender) }
    #expect(lines.count == 2 && lines.values.allSatisfy { $0.contains("encrypted") }, "\(lines.values)")
    #expect(lines.values[0].contains("alice") && lines.values[1].contains("bob"))
  }

  @Test func aPacketOfTodaysClientsIsKnownAsEncrypted() throws {
    // Field 18 with the type and the key's index.
    let packet = try Livekit_DataPacket(serializedBytes: [0x22, 1, 0x61, 0x92, 0x01, 4, 0x08, 1, 0x18, 2] as [UInt8])
    guard case .encryptedPacket = packet.value else { return #expect(Bool(false), "\(packet)") }
    #expect(packet.participantIdentity == "a")
  }

  @Test func aTextThatIsLostIsSaidOnce() {
    for _ in 0..<2 { receive([Data(repeating: 0xff, count: 9)], topic: "lk.chat", length: 9) }
    #expect(lines.count == 1 && chats.count == 0, "\(lines.values)")
  }

  // MARK: Ways

  private func toldInWays() -> Collector<[String]> {
    Collector(room.events) { event -> [String]? in
      if case .chatMessageReceived = event { return ["chat"] }
      guard case .transcriptionReceived(_, _, let segments) = event else { return nil }
      return segments.map { "\($0.id) \($0.text) \($0.isFinal)" }
    }
  }

  private func receiveMessage(_ text: String, isFinal: Bool, of speaker: String) {
    var segment = Livekit_TranscriptionSegment()
    (segment.id, segment.text, segment.final) = ("SG_1", text, isFinal)
    var transcription = Livekit_Transcription()
    (transcription.transcribedParticipantIdentity, transcription.segments) = (speaker, [segment])
    receive(.transcription(transcription), from: "agent")
  }

  private func receiveText(_ text: String, of speaker: String) {
    var header = Livekit_DataStream.Header()
    (header.streamID, header.topic, header.textHeader) = (text, "lk.transcription", .init())
    header.attributes = ["lk.transcription_final": "true", "lk.segment_id": "SG_2"]
    header.inlineContent = Data(text.utf8)
    // An agent names whom it hears.
    room.receive(agent(.streamHeader(header)), from: speaker, Logger(label: "test"))
  }

  @Test func whatAnAgentSaysInBothWaysIsToldOnce() async throws {
    let told = toldInWays()
    receiveMessage("Hello", isFinal: false, of: "alice")
    receiveMessage("Hello there", isFinal: true, of: "alice")
    receiveText("Hello there", of: "alice")
    receiveText("Bye", of: "alice")
    receive(.chatMessage(.init()))
    try await eventually("what comes behind") { told.values.last == ["chat"] }
    #expect(told.values == [["SG_1 Hello false"], ["SG_1 Hello there true"], ["SG_2 Bye true"], ["chat"]])
  }

  /// Whoever reckons with such a date is not to end for that.
  @Test(arguments: [Int64.min, .max])
  func aDateThatNobodyLivesIsOneInMilliseconds(_ milliseconds: Int64) async throws {
    let dates = Collector(room.events) { event -> Date? in
      if case .chatMessageReceived(_, let chat) = event { chat.timestamp } else { nil }
    }
    var message = Livekit_ChatMessage()
    message.timestamp = milliseconds
    receive(.chatMessage(message))
    var text = Livekit_DataStream.Header()
    (text.streamID, text.topic, text.timestamp, text.textHeader) = ("t", "lk.chat", milliseconds, .init())
    text.inlineContent = Data("late".utf8)
    receive(.streamHeader(text))
    try await eventually("both") { dates.count == 2 }
    #expect(dates.values.allSatisfy { Int(exactly: ($0.timeIntervalSince1970 * 1000).rounded()) != nil })
  }

  /// Agents transcribe what somebody said who has left meanwhile.
  @Test func theLastWordsOfWhoHasLeftAreTheirs() async throws {
    let speakers = Collector(room.events) { event -> String? in
      if case .transcriptionReceived(let participant, _, _) = event { participant?.identity ?? "" } else { nil }
    }
    let alice = RemoteParticipant(info: .init())
    alice.info.withLock { $0.identity = "alice" }
    room.state.withLock { $0.left.note(alice, "alice", at: .now) }
    receiveMessage("Bye", isFinal: true, of: "alice")
    receiveMessage("Who?", isFinal: true, of: "nobody")
    try await eventually("both") { speakers.count == 2 }
    #expect(speakers.values == ["alice", ""])
  }

  @Test func whoHasLeftLongAgoIsForgotten() {
    var left = LeftParticipants()
    let start = MediaTime.now
    left.note(RemoteParticipant(info: .init()), "alice", at: start)
    #expect(left["alice", start + .seconds(9)] != nil && left["alice", start + .seconds(11)] == nil)
    left.note(RemoteParticipant(info: .init()), "bob", at: start + .seconds(11))
    #expect(left["alice", start] == nil && left["bob", start + .seconds(12)] != nil)
  }

  /// One message of a sender that means ill.
  @Test func aHundredSegmentsOfAMessageAreTold() async throws {
    let told = toldInWays()
    var transcription = Livekit_Transcription()
    transcription.segments = (0..<9000).map { number in
      var segment = Livekit_TranscriptionSegment()
      (segment.id, segment.text) = ("\(number)", "\(number)")
      return segment
    }
    receive(.transcription(transcription), from: "agent")
    receive(.transcription(transcription), from: "agent")
    receive(.chatMessage(.init()))
    try await eventually("what comes behind") { told.values.last == ["chat"] }
    #expect(told.values.map(\.count) == [100, 100, 1])
    #expect(lines.count == 1 && lines.values[0].contains("agent"), "\(lines.values)")
  }

  /// The message names the avatar, whose voice is heard, and the text the agent.
  @Test func whatAnAgentSaysByItsAvatarIsToldOnce() async throws {
    let told = toldInWays()
    room.localParticipant.info.withLock { info in
      (info.identity, info.attributes) = ("avatar", ["lk.publish_on_behalf": "agent"])
    }
    receiveMessage("Hello there", isFinal: true, of: "avatar")
    receiveText("Hello there", of: "agent")
    receive(.chatMessage(.init()))
    try await eventually("what comes behind") { told.values.last == ["chat"] }
    #expect(told.values == [["SG_1 Hello there true"], ["chat"]])
  }

  private func agent(_ value: Livekit_DataPacket.OneOf_Value) -> Livekit_DataPacket {
    var packet = Livekit_DataPacket(value, to: [])
    packet.participantSid = "agent"
    return packet
  }
}

extension Result where Success == Data, Failure == StreamError {
  fileprivate var error: StreamError? { if case .failure(let error) = self { error } else { nil } }
}
