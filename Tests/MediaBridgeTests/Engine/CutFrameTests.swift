import BridgeTesting
import Foundation
import MediaCore
import MediaPipelines
import RTP
import Testing

@testable import MediaBridge

/// A server that changes over to another layer may do so in the middle of a frame: no decoder shall get that.
@Suite struct CutFrameTests {
  private struct Part {
    var timestamp: UInt32
    var isKeyframe = false
    var isFirst = true
    var isLast = true
    var number: UInt16?
  }

  /// Whether there is something in each packet that reaches a pipeline.
  /// - Parameters:
  ///   - attached: how many packets come before the pipeline is there.
  ///   - order: in which they come, into a pipeline that does not put them in order itself.
  private func contents(of parts: [Part], attached: Int = 0, order: [Int]? = nil) async throws -> [Bool] {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder.appending(path: "receive"), withIntermediateDirectories: true)
    try Data((order == nil ? asTheyCome : inOrder).utf8)
      .write(to: folder.appending(path: "receive/packets.pipeline"))
    let track = try #require(
      OfferedTrack(try OfferedTrackTests().section(), mids: [:], codecs: ["TR_VC": ["video/VP8"]]))
    let reception = TrackReception(
      track, clock: ParticipantClock(), configuration: .init(track), onOtherCodec: { _ in }, onStream: { _ in })
    let received = Collector<(SequenceNumber, Bool)>()
    let outputs = TrackOutputs(isVideo: true, onKeyframeNeeded: {})
    let pipeline = try ReceivePipeline(
      factory: PipelineFactory(folder: folder.path), template: "packets", values: [:], isVideo: true,
      payloadType: PayloadType(96), to: outputs, clock: { _ in nil }, onKeyframeNeeded: {})
    outputs.begin(pipeline)
    let consumer = MediaConsumer(
      onFailure: { _ in },
      onBuffer: { media in
        let packet = media.withUnsafeBytes { try? RTPPacket(parsing: PacketBuffer(copying: $0)) }
        if let packet { received.add((packet.sequenceNumber, packet.payloadLength > 0)) }
      })
    try outputs.add(consumer, to: .encoded)
    await withCheckedContinuation { continuation in pipeline.whenSettled { continuation.resume() } }
    for (count, index) in (order ?? Array(parts.indices)).enumerated() {
      if count == attached { reception.attach(pipeline, at: .now) }
      reception.receive(packet(parts[index], UInt16(index + 1)), at: .now)
      reception.flush()
    }
    try await eventually("the packets") { received.count == parts.count }
    await pipeline.stop()
    #expect(received.values.map(\.0.rawValue) == parts.indices.map { parts[$0].number ?? UInt16($0 + 1) })
    return received.values.map(\.1)
  }

  private let asTheyCome = "# As they come.\nappsrc name=rtp ! appsink name=encoded sync=false\n"

  private let inOrder = """
    # In their order.
    appsrc name=rtp caps=application/x-rtp,media=video,clock-rate=90000 ! rtpjitterbuffer name=jitter
    ! tee name=media allow-not-linked=true
    media. ! appsink name=encoded sync=false async=false

    """

  private func packet(_ part: Part, _ number: UInt16) -> RTPPacket {
    RTPPacket(
      payloadType: PayloadType(96), sequenceNumber: SequenceNumber(part.number ?? number),
      timestamp: part.timestamp * 3000, ssrc: SSRC(10), marker: part.isLast,
      payload: [part.isFirst ? 0x10 : 0, part.isKeyframe ? 0 : 1, 2, 3])
  }

  /// A whole frame, the first two packets of another, and a keyframe of two.
  private let cut = [
    Part(timestamp: 1, isKeyframe: true), Part(timestamp: 2, isLast: false),
    Part(timestamp: 2, isFirst: false, isLast: false), Part(timestamp: 3, isKeyframe: true, isLast: false),
    Part(timestamp: 3, isFirst: false),
  ]

  /// A keyframe in place of the cut frame, and another one of a single packet that is cut off behind it.
  private var cutTwice: [Part] {
    var parts = cut
    parts[1].isKeyframe = true
    parts.insert(Part(timestamp: 3, isKeyframe: true, isLast: false), at: 3)
    for index in 4...5 { parts[index].timestamp = 4 }
    return parts
  }

  @Test func aFrameThatAKeyframeCutsOffIsEmptied() async throws {
    #expect(try await contents(of: cut) == [true, false, false, true, true])
  }

  /// One that had begun before there was a pipeline, too.
  @Test func aKeyframeThatAnotherOneCutsOffIsEmptied() async throws {
    var parts = cut
    parts[1].isKeyframe = true
    parts.removeFirst()
    #expect(try await contents(of: parts, attached: 1) == [false, false, true, true])
  }

  /// From the highest layer to the lowest over the one between, of which but the beginning comes.
  @Test func eachOfSeveralKeyframesThatAreCutOffIsEmptied() async throws {
    #expect(try await contents(of: cutTwice) == [true, false, false, false, true, true])
  }

  /// The server sends each layer in a thread of its own.
  @Test func whatComesInTheWrongOrderWhereItIsCutOffIsEmptied() async throws {
    let expected = [true, false, false, false, true, true]
    #expect(try await contents(of: cutTwice, order: [0, 1, 2, 4, 3, 5]) == expected)
    #expect(try await contents(of: cutTwice, order: [0, 1, 3, 2, 4, 5]) == expected)
  }

  @Test func whatNoKeyframeFollowsStays() async throws {
    var parts = cut
    parts[3].isKeyframe = false
    #expect(try await contents(of: parts) == [true, true, true, true, true])
  }

  @Test func aSenderThatMarksNothingLosesNothing() async throws {
    var parts = cut
    for index in parts.indices.dropLast() { parts[index].isLast = false }
    #expect(try await contents(of: parts) == [true, true, true, true, true])
  }

  /// What is missing may still come, and the frame is not cut off at all.
  @Test func aFrameWithAGapStays() async throws {
    var parts = cut
    for index in 3...4 { parts[index].number = UInt16(index + 2) }
    #expect(try await contents(of: parts) == [true, true, true, true, true])
  }

  /// Padding comes behind a frame that has its end, and in one piece with the keyframe behind it.
  @Test func paddingCutsNothingOff() {
    var batch = FrameBatch(startsKeyframe: \.marker)
    let payloads: [[UInt8]] = [[1], [], [], [1]]
    for (index, payload) in payloads.enumerated() {
      let packet = RTPPacket(
        payloadType: PayloadType(96), sequenceNumber: SequenceNumber(UInt16(index)),
        timestamp: index < 3 ? 1 : 2, ssrc: SSRC(10), marker: !payload.isEmpty, payload: payload)
      batch.add(ArrivedPacket(packet, at: .now))
    }
    var lengths: [Int] = []
    batch.flush { lengths += $0.map(\.packet.payloadLength) }
    #expect(lengths == [1, 0, 0, 1])
  }
}
