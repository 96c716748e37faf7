import Bitstream
import BridgeTesting
import GStreamerKit
import MediaCore
import MediaPipelines
import RTP
import Testing

@testable import MediaBridge

/// A keyframe that has lost its beginning, whose rest depayloaders take for a whole one.
@Suite struct CutKeyframeTests {
  /// H.264 in three slices a frame, each in packets of its own, with a keyframe every ten frames. GStreamer up to 1.22
  /// puts parameter sets in front of each slice of it.
  private static let camera = """
    videotestsrc num-buffers=25 pattern=smpte ! video/x-raw,format=I420,width=320,height=192,framerate=25/1
    ! x264enc tune=zerolatency threads=3 key-int-max=10 bitrate=400 option-string="scenecut=0"
    ! video/x-h264,profile=constrained-baseline ! rtph264pay pt=96 config-interval=-1 aggregate-mode=none mtu=1200
    ! appsink name=rtp sync=false
    """

  private func type(_ packet: RTPPacket) -> UInt8 { packet.withPayload { ($0.first ?? 0) & 31 } }

  /// By their numbers, and behind which packets a keyframe was asked for.
  /// - Parameter isOutage: whether nothing behind what was lost has to do with what was before it.
  private func frames(
    of packets: [RTPPacket], without lost: Range<Int>, isOutage: Bool = false, values: [String: String] = [:]
  ) async throws -> (frames: [Int], requests: [SequenceNumber]) {
    let (first, frames, requests) = (packets[0].timestamp, Collector<Int>(), Collector<SequenceNumber>())
    let outputs = TrackOutputs(isVideo: true, onKeyframeNeeded: {})
    let pipeline = try ReceivePipeline(
      factory: PipelineFactory(folder: nil), template: "h264", values: values, isVideo: true,
      payloadType: PayloadType(96), to: outputs, clock: { _ in nil }, onKeyframeNeeded: {})
    outputs.begin(pipeline)
    let consumer = MediaConsumer(
      onFailure: { _ in },
      onBuffer: { media in media.pts.map { frames.add(Int(($0.nanoseconds + 20_000_000) / 40_000_000)) } })
    try outputs.add(consumer, to: .encoded)
    await withCheckedContinuation { continuation in pipeline.whenSettled { continuation.resume() } }
    let feed = PipelineFeed(
      pipeline, startsKeyframe: { $0.withPayload(VideoCodec.h264.startsKeyframe) },
      keyframePart: { $0.withPayload(VideoCodec.h264.keyframePart) }, isRepaired: true,
      onKeyframeNeeded: requests.add, clock: { MediaTime(nanoseconds: Int64($0 &- first) * 1_000_000 / 90) })
    for (index, packet) in packets.enumerated() where !lost.contains(index) {
      if isOutage, index == lost.upperBound { feed.restart() }
      feed.add(ArrivedPacket(packet.copy(), at: .now))
      feed.flush()
    }
    feed.complete()
    await pipeline.stop()
    return (frames.values, requests.values)
  }

  /// Of a keyframe, by default the second: its parameter sets and its first slice.
  private func beginning(of packets: [RTPPacket], keyframe: Int = 1) throws -> Range<Int> {
    let begins = packets.indices.filter { $0 == 0 || packets[$0].timestamp != packets[$0 - 1].timestamp }
    let first = begins[10 * keyframe]
    let slices = packets.indices[first...].filter { beginsSlice(packets[$0]) }
    let beginning = first..<slices[1]
    try #require(packets[slices[1]].timestamp == packets[first].timestamp)
    #expect(packets[beginning].contains { type($0) == 7 })
    return beginning
  }

  /// A unit of its own, or its first fragment (RFC 6184, 5.8).
  private func beginsSlice(_ packet: RTPPacket) -> Bool {
    packet.withPayload { $0[0] & 31 == 28 ? $0[1] & 0x80 != 0 : [1, 5].contains($0[0] & 31) }
  }

  /// - Parameter kept: packets that come in front of the second slice: its parameter sets, where it has some.
  @Test(arguments: [0, 2]) func itsRestIsLeftOut(kept: Int) async throws {
    let packets = try await RTPPacket.made(by: Self.camera)
    let beginning = try beginning(of: packets)
    let lost = beginning.lowerBound..<(beginning.upperBound - kept)
    let run = try await frames(of: packets, without: lost)
    #expect(run.frames == Array(0..<10) + Array(20..<25))
    // Before the next frame comes, which may take long.
    #expect(run.requests == rest(of: packets, behind: lost).suffix(1).map(\.sequenceNumber))
  }

  private func rest(of packets: [RTPPacket], behind lost: Range<Int>) -> ArraySlice<RTPPacket> {
    packets[lost.upperBound...].prefix { $0.timestamp == packets[lost.upperBound].timestamp }
  }

  /// Of a track that is subscribed to, or goes on behind an outage, just where a keyframe is on its way.
  @Test(arguments: [0, 1]) func itsRestIsLeftOutWhereReceptionBegins(keyframe: Int) async throws {
    let packets = try await RTPPacket.made(by: Self.camera)
    let lost = try beginning(of: packets, keyframe: keyframe)
    let run = try await frames(of: packets, without: lost, isOutage: keyframe > 0)
    #expect(run.frames == Array(0..<10 * keyframe) + Array(10 * (keyframe + 1)..<25))
    #expect(run.requests == rest(of: packets, behind: lost).suffix(1).map(\.sequenceNumber))
  }

  /// As LiveKit's server begins behind a pause, or changes to another layer: with the parameter sets of a later slice,
  /// and numbers that go on.
  @Test func itsRestIsLeftOutWhereNumbersGoOn() async throws {
    let packets = try await RTPPacket.made(by: Self.camera)
    let beginning = try beginning(of: packets)
    var sent = Array(packets[..<beginning.lowerBound])
    for parameters in [7, 8] as [UInt8] {
      let packet = packets[beginning].first { type($0) == parameters }
      sent.append(try #require(packet))
    }
    sent += packets[beginning.upperBound...]
    #expect(try await count(of: sent) == 15)
    #expect(try await count(of: packets) == 25, "of a whole stream nothing is left out")
  }

  /// How many frames come out of what a track brings, without a gap in its numbers.
  private func count(of packets: [RTPPacket]) async throws -> Int {
    let track = try #require(
      OfferedTrack(try OfferedTrackTests().section(), mids: [:], codecs: ["TR_VC": ["video/H264"]]))
    let reception = TrackReception(
      track, clock: ParticipantClock(), configuration: .init(track), onOtherCodec: { _ in }, onStream: { _ in })
    let (format, frames, start) = (PayloadType(125), Collector<Bool>(), MediaTime.now)
    let outputs = TrackOutputs(isVideo: true, onKeyframeNeeded: {})
    let pipeline = try ReceivePipeline(
      factory: PipelineFactory(folder: nil), template: "h264", values: [:], isVideo: true, payloadType: format,
      to: outputs, clock: { _ in nil }, onKeyframeNeeded: {})
    outputs.begin(pipeline)
    try outputs.add(MediaConsumer(onFailure: { _ in }, onBuffer: { _ in frames.add(true) }), to: .encoded)
    await withCheckedContinuation { continuation in pipeline.whenSettled { continuation.resume() } }
    reception.attach(pipeline, at: start)
    for (number, packet) in packets.enumerated() {
      let sent = RTPPacket(
        payloadType: format, sequenceNumber: SequenceNumber(UInt16(number)), timestamp: packet.timestamp,
        ssrc: SSRC(10), marker: packet.marker, payload: packet.withPayload { Array($0) })
      reception.receive(sent, at: start + .milliseconds(Int64(packet.timestamp &- packets[0].timestamp) / 90))
      reception.flush()
    }
    reception.complete()
    await pipeline.stop()
    return frames.count
  }

  /// Who wants damaged frames gets them.
  @Test func aTemplateThatWaitsForNoKeyframeGetsIt() async throws {
    let packets = try await RTPPacket.made(by: Self.camera)
    let run = try await frames(
      of: packets, without: try beginning(of: packets), values: ["wait-for-keyframe": "false"])
    #expect(run.frames == Array(0..<25) && run.requests.isEmpty)
  }

  // MARK: Packet by packet

  /// By the first byte: a whole beginning, slices, and parameter sets.
  private func part(_ packet: RTPPacket) -> KeyframePart? { part(of: packet.withPayload { Array($0) }) }

  private func part(of payload: [UInt8]) -> KeyframePart? {
    let parts: [UInt8: KeyframePart] = [1: .beginning, 5: .firstSlice, 6: .laterSlice, 7: .parameterSets]
    return payload.first.flatMap { parts[$0] }
  }

  /// What is left out of packets behind a loss: `frame` is the timestamp.
  private func leftOut(_ packets: [(frame: UInt32, payload: [UInt8])]) -> [Bool] {
    var cut = CutFrame(keyframePart: part)
    cut.begin()
    return leftOut(packets, by: &cut)
  }

  private func leftOut(_ packets: [(frame: UInt32, payload: [UInt8])], by cut: inout CutFrame) -> [Bool] {
    packets.map { packet in
      cut.contains(
        RTPPacket(
          payloadType: PayloadType(96), sequenceNumber: SequenceNumber(1), timestamp: packet.frame, ssrc: SSRC(1),
          payload: packet.payload))
    }
  }

  /// Where nothing but a delimiter or padding is left out, nothing is missing.
  @Test func itsEndIsToldOnce() {
    var cut = CutFrame(keyframePart: part)
    func ends(_ packets: [(frame: UInt32, payload: [UInt8], marker: Bool)]) -> [UInt16?] {
      cut.begin()
      return packets.enumerated().map { index, packet in
        _ = cut.contains(
          RTPPacket(
            payloadType: PayloadType(96), sequenceNumber: SequenceNumber(UInt16(index)), timestamp: packet.frame,
            ssrc: SSRC(1), marker: packet.marker, payload: packet.payload))
        return cut.takeEnd()?.rawValue
      }
    }
    #expect(ends([(1, [0], false), (1, [0], true), (2, [0], true)]) == [nil, 1, nil])
    #expect(ends([(1, [0], false), (2, [0], true), (3, [0], true)]) == [nil, 0, nil], "one whose end was lost")
    #expect(ends([(1, [9], false), (1, [1], true), (2, [0], true)]) == [nil, nil, nil], "a whole keyframe")
    #expect(ends([(1, [], false), (1, [0], false), (2, [1], true)]) == [nil, nil, nil], "a keyframe behind it")
    #expect(ends([(1, [7], false), (1, [6], true), (2, [0], true)]) == [nil, 1, nil], "behind parameter sets")
  }

  @Test func theFrameBehindALossEndsWithTheNext() {
    #expect(leftOut([(1, [0]), (1, [0]), (2, [0]), (1, [0])]) == [true, true, false, false])
    #expect(leftOut([(0, []), (1, [0]), (1, []), (2, [0])]) == [true, true, true, false], "padding")
    #expect(leftOut([(1, [1]), (1, [0])]) == [false, false], "a whole keyframe")
    #expect(leftOut([(1, [9]), (1, [1]), (1, [0])]) == [true, false, false], "one behind a delimiter")
  }

  /// They do no harm by themselves; the slice behind them shows whether the keyframe begins there.
  @Test func parameterSetsMayStandInFrontOfAnySlice() {
    #expect(leftOut([(1, [7]), (1, [0]), (1, [6]), (1, [0]), (2, [0])]) == [false, false, true, true, false])
    #expect(leftOut([(1, [6]), (1, [7]), (1, [6]), (2, [0])]) == [true, false, true, false], "of a third one")
    #expect(leftOut([(1, [7]), (1, []), (1, [5]), (1, [7]), (1, [6])]) == [false, false, false, false, false])
    #expect(leftOut([(1, [5]), (1, [0]), (2, [0])]) == [true, true, false], "the first slice without any")
    #expect(leftOut([(1, [6]), (2, [7]), (2, [5]), (2, [6])]) == [true, false, false, false], "of the next keyframe")
  }

  /// Behind a frame of which nothing is missing.
  private func leftOutOfKeyframe(_ packets: [(frame: UInt32, payload: [UInt8])]) -> [Bool] {
    var cut = CutFrame(keyframePart: part)
    _ = leftOut([(1, [0])], by: &cut)
    return packets.flatMap { packet in
      if part(of: packet.payload) != nil { cut.noteKeyframe(packet.frame) }
      return leftOut([packet], by: &cut)
    }
  }

  @Test func aKeyframeThatBeginsWithALaterSliceIsLeftOut() {
    let afterSets = leftOutOfKeyframe([(2, [7]), (2, [0]), (2, [6]), (2, [0]), (3, [0])])
    #expect(afterSets == [false, false, true, true, false])
    let withThird = leftOutOfKeyframe([(2, [7]), (2, [6]), (2, [7]), (2, [6])])
    #expect(withThird == [false, true, false, true], "of a third one")
    #expect(leftOutOfKeyframe([(2, [6]), (2, []), (3, [0])]) == [true, true, false], "sets and slice in one packet")
    #expect(leftOutOfKeyframe([(2, []), (2, [7]), (2, [6])]) == [false, false, true], "behind padding")
    #expect(leftOutOfKeyframe([(2, [7]), (3, [7]), (3, [6])]) == [false, false, true], "behind one without a slice")
  }

  @Test func aWholeKeyframeInSlicesStays() {
    let whole: [[(frame: UInt32, payload: [UInt8])]] = [
      [(2, [7]), (2, [0]), (2, [5]), (2, [7]), (2, [6])], [(2, [1]), (2, [6])], [(2, [5]), (2, [6])],
      // Behind a delimiter; slices of other frames behind parameter sets, as with intra refresh.
      [(2, [0]), (2, [7]), (2, [5]), (2, [6])], [(2, [7]), (2, [0]), (3, [0]), (4, [0])],
    ]
    for packets in whole { #expect(leftOutOfKeyframe(packets).allSatisfy { !$0 }, "\(packets)") }
  }

  /// As behind a loss.
  @Test func theEndOfOneThatBeginsWithALaterSliceIsTold() {
    var cut = CutFrame(keyframePart: part)
    cut.noteKeyframe(2)
    let left = leftOut([(1, [0]), (2, [7]), (2, [6]), (3, [0])], by: &cut)
    let ends = [cut.takeEnd(), cut.takeEnd()]
    #expect(left == [false, false, true, false] && ends == [SequenceNumber(1), nil])
  }

  /// Each look costs something, and most frames are no keyframes: of these one packet is looked at.
  @Test func otherFramesAreNotLookedAt() {
    var looks: [UInt32] = []
    var cut = CutFrame(keyframePart: { packet in
      looks.append(packet.timestamp)
      return nil
    })
    cut.noteKeyframe(2)
    let left = leftOut([(1, [0]), (1, [0]), (2, [0]), (2, [0]), (2, [0]), (3, []), (3, [0])], by: &cut)
    #expect(!left.contains(true) && looks == [2])
  }
}
