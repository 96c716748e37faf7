import MediaCore
import Testing

@testable import RTP

@Suite("StreamRewriter")
struct StreamRewriterTests {
  /// A VP8 packet of a layer: descriptor with a 15-bit picture id and TL0PICIDX.
  static func packet(
    _ source: UInt32, number: Int, timestamp: Int, frame: Int, isKey: Bool = false, begins: Bool = true
  ) -> RTPPacket {
    let id = UInt16(frame & 0x7fff)
    let payload =
      [begins ? 0x90 : 0x80, 0xc0, 0x80 | UInt8(id >> 8), UInt8(id & 255), UInt8(frame & 255), isKey ? 0 : 1]
      + Array("\(source)/\(number)".utf8)
    return .media(number, ssrc: source, timestamp: UInt32(truncatingIfNeeded: timestamp), payload: payload)
  }

  /// The same with its temporal layer.
  static func packet(_ number: Int, frame: Int, layer: UInt8, begins: Bool = true, isKey: Bool = false) -> RTPPacket {
    let id = UInt16(frame & 0x7fff)
    let payload: [UInt8] = [
      begins ? 0x90 : 0x80, 0xe0, 0x80 | UInt8(id >> 8), UInt8(id & 255), 0, layer << 6, isKey ? 0 : 1, UInt8(number),
    ]
    return .media(number, ssrc: 1, timestamp: UInt32(frame * 3000), payload: payload)
  }

  private func rewriter(first: UInt16 = 100) -> StreamRewriter {
    StreamRewriter(
      configuration: .init(
        ssrc: SSRC(9), clockRate: 90_000, payloadType: PayloadType(120), codec: .vp8,
        firstSequenceNumber: SequenceNumber(first)))
  }

  @Test func changeWaitsForAKeyframeAndContinues() {
    var rewriter = rewriter()
    rewriter.select(SSRC(1))
    #expect(rewriter.rewrite(Self.packet(1, number: 10, timestamp: 0, frame: 5), at: .ms(0)).isEmpty)
    let first = rewriter.rewrite(Self.packet(1, number: 11, timestamp: 3000, frame: 6, isKey: true), at: .ms(33))
      .first
    #expect(first?.sequenceNumber == SequenceNumber(100) && first?.timestamp == 3000)
    #expect(first?.ssrc == SSRC(9) && first?.payloadType == PayloadType(120))
    rewriter.select(SSRC(2))
    #expect(rewriter.current == SSRC(1) && rewriter.awaited == SSRC(2))
    #expect(rewriter.rewrite(Self.packet(2, number: 500, timestamp: 70_000, frame: 900), at: .ms(50)).isEmpty)
    let second = rewriter.rewrite(Self.packet(1, number: 12, timestamp: 6000, frame: 7), at: .ms(66)).first
    #expect(second?.sequenceNumber == SequenceNumber(101) && second?.timestamp == 6000)
    let third = rewriter.rewrite(Self.packet(2, number: 501, timestamp: 76_000, frame: 901, isKey: true), at: .ms(99))
      .first
    #expect(third?.sequenceNumber == SequenceNumber(102) && third?.timestamp == 6000 + 2970)
    #expect(third.flatMap { $0.withPayload { VP8Descriptor($0)?.pictureID } } == 8)
    #expect(third.flatMap { $0.withPayload { VP8Descriptor($0)?.temporalLevelIndex } } == 8)
    #expect(rewriter.current == SSRC(2) && rewriter.awaited == nil)
    #expect(rewriter.rewrite(Self.packet(1, number: 13, timestamp: 9000, frame: 8), at: .ms(100)).isEmpty)
    #expect(rewriter.outgoingTimestamp(76_000, of: SSRC(2)) == 8970)
    #expect(rewriter.outgoingTimestamp(76_000, of: SSRC(1)) == nil)
  }

  /// As where everybody changes over to the backup codec of a track.
  @Test func anotherCodecGoesOnBehindTheFirst() {
    var rewriter = rewriter()
    rewriter.select(SSRC(1))
    _ = rewriter.rewrite(Self.packet(1, number: 10, timestamp: 0, frame: 1, isKey: true), at: .ms(0))
    rewriter.change(to: PayloadType(98), codec: .vp9)
    #expect(rewriter.rewrite(Self.packet(1, number: 11, timestamp: 3000, frame: 2), at: .ms(33)).isEmpty)
    rewriter.select(SSRC(2))
    // A descriptor that begins a frame which needs none before (RFC 9628), and the first byte of a keyframe.
    let key = RTPPacket.media(500, ssrc: 2, timestamp: 70_000, payload: [0x08, 0x82])
    let first = rewriter.rewrite(key, at: .ms(66)).first
    #expect(first?.payloadType == PayloadType(98) && first?.sequenceNumber == SequenceNumber(101))
    #expect(first?.timestamp == 5940)
  }

  @Test func latePacketsOfTheOldStreamKeepTheirNumbers() {
    var rewriter = rewriter()
    rewriter.select(SSRC(1))
    _ = rewriter.rewrite(Self.packet(1, number: 10, timestamp: 0, frame: 1, isKey: true), at: .ms(0))
    _ = rewriter.rewrite(Self.packet(1, number: 12, timestamp: 3000, frame: 2), at: .ms(1))
    rewriter.select(SSRC(2))
    let key = rewriter.rewrite(Self.packet(2, number: 50, timestamp: 9, frame: 1, isKey: true), at: .ms(2)).first
    #expect(key?.sequenceNumber == SequenceNumber(103))
    let late = rewriter.rewrite(Self.packet(1, number: 11, timestamp: 3000, frame: 2), at: .ms(3)).first
    #expect(late?.sequenceNumber == SequenceNumber(101))
    #expect(rewriter.rewrite(Self.packet(1, number: 13, timestamp: 3000, frame: 2), at: .ms(4)).isEmpty)
  }

  @Test func framesOfHigherTemporalLayersAreLeftOutWithoutAHole() {
    var rewriter = rewriter()
    rewriter.select(SSRC(1))
    var sent: [RTPPacket] = []
    for number in 0..<48 {
      // Two packets a frame, layers 0 2 1 2 0 …; the limit is lifted for a while in the middle.
      let frame = number / 2
      let layer: UInt8 = [0, 2, 1, 2][frame % 4]
      rewriter.temporalLayerLimit = (16..<32).contains(number) ? nil : 0
      let packet = Self.packet(number, frame: frame, layer: layer, begins: number % 2 == 0, isKey: number < 2)
      sent += rewriter.rewrite(packet, at: .ms(Double(number))).map { $0 }
    }
    #expect(sent.map { Int($0.payload.last ?? 0) } == [0, 1, 8, 9] + Array(16..<32) + [32, 33, 40, 41])
    #expect(sent.map { Int($0.sequenceNumber.rawValue) } == Array(100..<124))
    let frames = sent.compactMap { $0.withPayload { VP8Descriptor($0)?.pictureID } }
    #expect(frames == (0..<24).map { UInt16($0 / 2) })
  }

  /// The numbers behind it are given out.
  @Test func aLatePacketOfAHigherLayerPasses() {
    var rewriter = rewriter()
    rewriter.select(SSRC(1))
    rewriter.temporalLayerLimit = 0
    func number(_ packet: RTPPacket) -> UInt16? { rewriter.rewrite(packet, at: .ms(0)).first?.sequenceNumber.rawValue }
    #expect(number(Self.packet(0, frame: 0, layer: 0, isKey: true)) == 100)
    #expect(number(Self.packet(2, frame: 2, layer: 1)) == nil)
    #expect(number(Self.packet(3, frame: 3, layer: 0)) == 102)
    #expect(number(Self.packet(1, frame: 1, layer: 1)) == 101)
    #expect(number(Self.packet(4, frame: 4, layer: 0)) == 103)
  }

  @Test func packetsThatOvertookTheKeyframesFirstFollowIt() {
    var rewriter = rewriter()
    rewriter.select(SSRC(1))
    for number in [13, 12] {
      let packet = Self.packet(1, number: number, timestamp: 0, frame: 1, isKey: true, begins: false)
      #expect(rewriter.rewrite(packet, at: .ms(0)).isEmpty)
    }
    let batch = rewriter.rewrite(Self.packet(1, number: 11, timestamp: 0, frame: 1, isKey: true), at: .ms(1))
    #expect(batch.map(\.sequenceNumber.rawValue) == [100, 101, 102])
    #expect(batch.map { $0.payload.suffix(4) } == ["1/11", "1/12", "1/13"].map { ArraySlice($0.utf8) })
  }

  @Test func layersAreAlignedBySenderReports() {
    var rewriter = rewriter()
    func report(_ source: UInt32, ms: Int64, timestamp: UInt32) -> SenderReport {
      SenderReport(
        ssrc: SSRC(source), ntp: NTPTime(unixNanoseconds: 1_000_000_000_000 + ms * 1_000_000), rtpTimestamp: timestamp,
        packetCount: 0, octetCount: 0)
    }
    rewriter.receive(report(1, ms: 0, timestamp: 1_000_000), at: .ms(0))
    rewriter.receive(report(2, ms: 500, timestamp: 5_000_000), at: .ms(0))
    rewriter.select(SSRC(1))
    _ = rewriter.rewrite(Self.packet(1, number: 1, timestamp: 1_090_000, frame: 1, isKey: true), at: .ms(1020))
    rewriter.select(SSRC(2))
    // 600 ms after its report, so 1.1 s after the other's, however late it arrives.
    let key = rewriter.rewrite(Self.packet(2, number: 1, timestamp: 5_054_000, frame: 1, isKey: true), at: .ms(1220))
      .first
    #expect(key?.timestamp == 1_099_000)
    // The same moment in the other layer again: a millisecond later, and the debt is not carried on.
    rewriter.select(SSRC(1))
    let back = rewriter.rewrite(Self.packet(1, number: 9, timestamp: 1_099_000, frame: 9, isKey: true), at: .ms(1230))
      .first
    #expect(back?.timestamp == 1_099_090)
    rewriter.select(SSRC(2))
    let again = rewriter.rewrite(
      Self.packet(2, number: 9, timestamp: 5_064_000, frame: 9, isKey: true), at: .ms(1300)
    ).first
    #expect(again?.timestamp == 1_109_000)
  }

  @Test func pauseEndsAtAKeyframeWithoutAGap() {
    var rewriter = rewriter()
    rewriter.select(SSRC(1))
    _ = rewriter.rewrite(Self.packet(1, number: 1, timestamp: 0, frame: 1, isKey: true), at: .ms(0))
    rewriter.select(nil)
    #expect(rewriter.current == nil)
    #expect(rewriter.rewrite(Self.packet(1, number: 2, timestamp: 3000, frame: 2), at: .ms(33)).isEmpty)
    rewriter.select(SSRC(1))
    #expect(rewriter.rewrite(Self.packet(1, number: 3, timestamp: 6000, frame: 3), at: .ms(66)).isEmpty)
    let key = rewriter.rewrite(Self.packet(1, number: 4, timestamp: 9000, frame: 4, isKey: true), at: .ms(99)).first
    #expect(key?.sequenceNumber == SequenceNumber(101) && key?.timestamp == 9000)
  }

  @Test func silenceOfOurOwnHasNumbersThatNoPacketGets() {
    var rewriter = StreamRewriter(
      configuration: .init(
        ssrc: SSRC(9), clockRate: 48_000, payloadType: PayloadType(111), firstSequenceNumber: SequenceNumber(100)))
    func forward(_ number: Int, at time: Double) -> RTPPacket? {
      rewriter.rewrite(.media(number, ssrc: 1, timestamp: UInt32(number * 960)), at: .ms(time)).first
    }
    #expect(rewriter.insert([1], after: 960, at: .ms(0)) == nil, "nothing has gone out")
    rewriter.select(SSRC(1))
    #expect(forward(10, at: 0)?.sequenceNumber == SequenceNumber(100))
    #expect(forward(12, at: 40)?.sequenceNumber == SequenceNumber(102))
    for step in 0..<2 {
      let packet = rewriter.insert([1], after: 960, at: .ms(60 + Double(step) * 20))
      #expect(packet?.sequenceNumber == SequenceNumber(UInt16(103 + step)) && packet?.payload == [1])
      #expect(packet?.timestamp == UInt32((13 + step) * 960) && packet?.ssrc == SSRC(9))
      #expect(packet?.payloadType == PayloadType(111))
    }
    #expect(rewriter.current == nil && forward(13, at: 90) == nil)
    rewriter.select(SSRC(1))
    let next = forward(15, at: 100)
    #expect(next?.sequenceNumber == SequenceNumber(105) && next?.timestamp == 15 * 960)
    #expect(forward(11, at: 101)?.sequenceNumber == SequenceNumber(101), "a late one keeps its number")
  }

  @Test func streamThatCountsAnewGoesOnAtItsKeyframe() {
    var rewriter = rewriter()
    rewriter.select(SSRC(1))
    _ = rewriter.rewrite(Self.packet(1, number: 100, timestamp: 0, frame: 1, isKey: true), at: .ms(0))
    #expect(rewriter.rewrite(Self.packet(1, number: 40_000, timestamp: 3000, frame: 2), at: .ms(33)).isEmpty)
    let key = rewriter.rewrite(Self.packet(1, number: 40_001, timestamp: 6000, frame: 3, isKey: true), at: .ms(66))
      .first
    #expect(key?.sequenceNumber == SequenceNumber(101))
    let back = rewriter.rewrite(Self.packet(1, number: 99, timestamp: 9000, frame: 4, isKey: true), at: .ms(99)).first
    #expect(back?.sequenceNumber == SequenceNumber(102))
  }

  @Test func sliceThatOvertookItsParameterSetsWaitsForThem() {
    var rewriter = StreamRewriter(configuration: .init(ssrc: SSRC(9), clockRate: 90_000, codec: .h264))
    func packet(_ source: UInt32, _ number: Int, _ first: UInt8, _ second: UInt8 = 0x88) -> RTPPacket {
      .media(number, ssrc: source, timestamp: 0, payload: [first, second])
    }
    rewriter.select(SSRC(1))
    #expect(rewriter.rewrite(packet(1, 0, 0x65, 0x11), at: .ms(0)).isEmpty, "not the frame's first slice")
    #expect(rewriter.rewrite(packet(1, 1, 0x65), at: .ms(0)).count == 1, "no parameter sets known: a slice is enough")
    rewriter.select(SSRC(2))
    #expect(rewriter.rewrite(packet(2, 50, 0x67), at: .ms(9)).isEmpty, "of which slice is not known")
    #expect(rewriter.rewrite(packet(2, 51, 0x65), at: .ms(9)).count == 2)
    rewriter.select(SSRC(1))
    #expect(rewriter.rewrite(packet(1, 9, 0x65), at: .ms(20)).isEmpty)
    let batch = rewriter.rewrite(packet(1, 8, 0x67), at: .ms(21))
    #expect(batch.map { $0.payload[0] } == [0x67, 0x65])
  }

  /// How many packets each one of H.264 has go out.
  private func counts(_ packets: [(timestamp: UInt32, payload: [UInt8])]) -> [Int] {
    var rewriter = StreamRewriter(configuration: .init(ssrc: SSRC(9), clockRate: 90_000, codec: .h264))
    rewriter.select(SSRC(1))
    return packets.enumerated().map { number, packet in
      let media = RTPPacket.media(number, ssrc: 1, timestamp: packet.timestamp, payload: packet.payload)
      return rewriter.rewrite(media, at: .ms(Double(number))).count
    }
  }

  /// GStreamer up to 1.22 puts them in front of each: who began there would show a damaged frame.
  @Test func parameterSetsOfALaterSliceAreNoBeginning() {
    let rest: [(timestamp: UInt32, payload: [UInt8])] = [
      (0, [0x67, 0x42]), (0, [0x68, 0xce]), (0, [0x65, 0x11]), (0, [0x78, 0, 2, 0x67, 0x42, 0, 2, 0x65, 0x11]),
      (0, [0x78, 0, 2, 0x65, 0x11, 0, 2, 0x67, 0x42]), (0, [0x7c, 0x85, 0x11]), (0, [0x7c, 0x45]),
    ]
    let keyframe: [(timestamp: UInt32, payload: [UInt8])] = [
      (3000, [0x67, 0x42]), (3000, [0x68, 0xce]), (3000, [0x7c, 0x85, 0x88]), (3000, [0x7c, 0x45]),
      (3000, [0x67, 0x42]), (3000, [0x65, 0x11]),
    ]
    #expect(counts(rest + keyframe) == [0, 0, 0, 0, 0, 0, 0] + [0, 0, 3, 1, 1, 1])
  }

  /// As with intra refresh: no slice of a keyframe ever comes.
  @Test func parameterSetsOfAFrameWithoutAKeyframesSliceAreABeginning() {
    let refreshed = counts([(0, [0x67, 0x42]), (0, [0x41, 0x9a]), (3000, [0x41, 0x9a]), (3000, [0x41, 0x11])])
    #expect(refreshed == [0, 0, 3, 1])
  }

  @Test func headerExtensionsOfTheOtherConnectionStayBehind() {
    var rewriter = StreamRewriter(
      configuration: .init(ssrc: SSRC(9), clockRate: 48_000, headerExtensions: [3: 5]))
    rewriter.select(SSRC(1))
    let packet = RTPPacket(
      payloadType: PayloadType(111), sequenceNumber: SequenceNumber(1), timestamp: 0, ssrc: SSRC(1),
      extensions: [(1, [48]), (3, [7])], payload: [1])
    let out = rewriter.rewrite(packet, at: .ms(0)).first
    #expect(out?.headerExtensionInteger(1) == nil && out?.headerExtensionInteger(5) == 7)
    #expect(packet.headerExtensionInteger(1) == 48, "others hold the packet too")
    #expect(out?.payloadType == PayloadType(111))
  }
}
