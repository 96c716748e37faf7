import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import MediaPipelines
import RTP
import Testing

@testable import MediaBridge

/// The way of packets into a shipped template, in which nothing puts them in order.
@Suite struct PipelineFeedTests {
  /// A feed on a clock of the test's, and what comes out of its pipeline.
  private struct Run {
    let feed: PipelineFeed
    let frames = Collector<MediaTime>()
    private let start = MediaTime.now
    private let consumer: MediaConsumer

    /// How each frame is turned.
    let turns = Collector<Int>()
    /// Whether a decoder is to begin anew.
    let cuts = Collector<Bool>()
    /// Milliseconds by which the clock is ahead.
    let lead = Locked(0)

    init(_ codec: String, orientationID: UInt8? = nil) async throws {
      let outputs = TrackOutputs(isVideo: codec != "opus", onKeyframeNeeded: {})
      let pipeline = try ReceivePipeline(
        factory: PipelineFactory(folder: nil), template: codec, values: [:], isVideo: codec != "opus",
        payloadType: PayloadType(96), orientationID: orientationID, to: outputs, clock: { _ in nil },
        onKeyframeNeeded: {})
      outputs.begin(pipeline)
      let (frames, turns, cuts) = (frames, turns, cuts)
      consumer = MediaConsumer(
        onFailure: { _ in },
        onBuffer: { media in
          media.pts.map(frames.add)
          turns.add(media.quarterTurns)
          cuts.add(media.isDiscontinuous)
        })
      try outputs.add(consumer, to: .encoded)
      await withCheckedContinuation { continuation in pipeline.whenSettled { continuation.resume() } }
      feed = PipelineFeed(pipeline, startsKeyframe: codec == "opus" ? nil : { _ in true }, isRepaired: true) {
        [lead] timestamp in
        MediaTime(nanoseconds: (Int64(timestamp) + Int64(lead.withLock { $0 })) * 1_000_000)
      }
    }

    /// Packets of one frame each, all keyframes of VP8, at 20 ms from one to the next.
    func push(_ numbers: Int..., at milliseconds: Int = 0) {
      let time = start + .milliseconds(milliseconds)
      feed.push(
        numbers.map { number in
          let packet = RTPPacket(
            payloadType: PayloadType(96), sequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: number)),
            timestamp: UInt32(1000 + number * 20), ssrc: SSRC(1), marker: true,
            payload: [0x10, 0x10, 0, 0, 0x9d, 0x01, 0x2a, 0x40, 0x01, 0xf0, 0])
          return ArrivedPacket(packet, at: time)
        })
    }

    @discardableResult
    func poll(at milliseconds: Int) -> Bool { feed.poll(at: start + .milliseconds(milliseconds), repairTime: nil) }

    /// Numbers by their times; nothing on the way takes long, for it is done by whoever pushes.
    var numbers: [Int] { frames.values.map { Int($0.nanoseconds / 1_000_000 - 1000) / 20 } }
  }

  @Test func frameTimesAreTheClocksAndOrderIsTheSenders() async throws {
    let run = try await Run("vp8")
    run.push(65_534, 0 + 65_536, 1 + 65_536)
    #expect(run.numbers == [65_534])
    run.push(65_535)
    run.push(2 + 65_536)
    #expect(run.numbers == Array(65_534...65_538) && run.feed.nextDeadline == nil)
    await run.feed.pipeline.stop()
  }

  /// One that was lost stands at its place when the next ones are looked at.
  @Test func whatGoesOnWithAFrameIsKnownInTheOrderOfTheSender() async throws {
    let run = try await Run("vp8")
    let joined = Collector<UInt16>()
    let feed = PipelineFeed(
      run.feed.pipeline, startsKeyframe: { _ in true }, continuesFrame: { joined.add($0.sequenceNumber.rawValue) },
      isRepaired: true, clock: { _ in .now })
    for (number, timestamp) in [(1, 0), (3, 20), (4, 20), (2, 20), (5, 40)] as [(UInt16, UInt32)] {
      let packet = RTPPacket(
        payloadType: PayloadType(96), sequenceNumber: SequenceNumber(number), timestamp: timestamp, ssrc: SSRC(1),
        payload: [0x10, 0x10, 0, 0, 0x9d, 0x01, 0x2a, 0x40, 0x01, 0xf0, 0])
      feed.add(ArrivedPacket(packet, at: .now))
    }
    #expect(joined.values == [3, 4])
    await feed.pipeline.stop()
  }

  /// Its first reports show that all comes later than was thought, while a repair holds frames up.
  @Test func aClockThatGoesBackLeavesTheOrder() async throws {
    let run = try await Run("vp8")
    run.push(0, 1)
    run.lead.withLock { $0 = -100 }
    run.push(2, 3)
    run.lead.withLock { $0 = 0 }
    run.push(4)
    let times = run.frames.values.map { $0.nanoseconds / 1_000_000 }
    #expect(times == [1000, 1020, 1021, 1022, 1080])
    // Another clock is followed.
    run.lead.withLock { $0 = -900 }
    run.push(5)
    #expect(run.frames.values.last.map { $0.nanoseconds / 1_000_000 } == 200)
    await run.feed.pipeline.stop()
  }

  /// Of a camera that is turned while a recording begins, several frames go into the pipeline together.
  @Test func eachFrameIsTurnedAsItsOwnPacketsSay() async throws {
    let run = try await Run("vp8", orientationID: 4)
    // RFC 8285 with one byte of `urn:3gpp:video-orientation`, and a keyframe of VP8.
    let turned: [UInt8] = [0, 0, 1, 1, 2]
    let keyframe: [UInt8] = [0x10, 0x10, 0, 0, 0x9d, 0x01, 0x2a, 0x40, 0x01, 0xf0, 0]
    let packets = try turned.enumerated().map { number, turns in
      var bytes: [UInt8] = [0x90, 0xe0, 0, UInt8(number), 0, 0, 4, UInt8(number * 20), 0, 0, 0, 1]
      bytes += [0xbe, 0xde, 0, 1, 0x40, turns, 0, 0] + keyframe
      return ArrivedPacket(try RTPPacket(parsing: bytes.withUnsafeBytes(PacketBuffer.init(copying:))), at: .now)
    }
    run.feed.push(packets)
    #expect(run.turns.values == turned.map { Int($0) })
    await run.feed.pipeline.stop()
  }

  /// Before the time of a retransmission has come, 350 ms.
  @Test func aLostPacketIsWaitedForAndThenTheRestGoesOn() async throws {
    let run = try await Run("vp8")
    run.push(1)
    run.push(3, 4, at: 40)
    #expect(!run.poll(at: 389))
    #expect(run.numbers == [1] && run.feed.nextDeadline != nil)
    #expect(run.poll(at: 390))
    #expect(run.numbers == [1, 3, 4] && run.feed.nextDeadline == nil)
    run.push(2, 5)
    #expect(run.numbers == [1, 3, 4, 5])
    await run.feed.pipeline.stop()
  }

  /// To wake all that is behind costs more than a packet; but nobody waits long for one that does not come.
  @Test func audioGoesOnByTwos() async throws {
    let run = try await Run("opus")
    run.push(1)
    #expect(run.numbers.isEmpty && run.feed.nextDeadline != nil)
    run.push(2, at: 20)
    #expect(run.numbers == [1, 2] && run.feed.nextDeadline == nil)
    run.push(3, at: 40)
    run.poll(at: 99)
    #expect(run.numbers == [1, 2])
    run.poll(at: 100)
    #expect(run.numbers == [1, 2, 3] && run.feed.nextDeadline == nil)
    run.push(4, at: 110)
    run.feed.complete()
    #expect(run.numbers == [1, 2, 3, 4])
    await run.feed.pipeline.stop()
  }

  @Test func audioBehindALostPacketIsNotHeldUpForLongNorLost() async throws {
    let run = try await Run("opus")
    run.feed.setLive(true)
    run.push(1, 2)
    run.push(4, 5, at: 20)
    run.poll(at: 119)
    #expect(run.numbers == [1, 2])
    run.poll(at: 120)
    #expect(run.numbers == [1, 2, 4, 5])
    run.push(7, 8, 10, at: 200)
    run.feed.complete()
    #expect(run.numbers == [1, 2, 4, 5, 7, 8, 10])
    await run.feed.pipeline.stop()
  }

  /// GStreamer's decoder of Opus is late by a packet ever after, where that is not said of what was lost.
  @Test func paddingOfAudioLeavesNoCut() async throws {
    let run = try await Run("opus")
    run.push(1, 2)
    let padding = RTPPacket(
      payloadType: PayloadType(96), sequenceNumber: SequenceNumber(3), timestamp: 1040, ssrc: SSRC(1), payload: [])
    run.feed.push([ArrivedPacket(padding, at: .now)])
    run.push(4, 5)
    #expect(run.numbers == [1, 2, 4, 5] && run.cuts.values.dropFirst().allSatisfy { !$0 })
    await run.feed.pipeline.stop()
  }

  @Test func aSenderThatCountsAnewIsFollowedAtOnce() async throws {
    let run = try await Run("vp8")
    run.push(100, 102)
    run.feed.restart()
    run.push(30_007)
    #expect(run.numbers == [100, 102, 30_007])
    await run.feed.pipeline.stop()
  }
}

extension PipelineFeed {
  /// Takes packets that came together.
  fileprivate func push(_ packets: [ArrivedPacket]) {
    packets.forEach(add)
    flush()
  }
}

/// Who sees to the time of what waits, and to what does not come.
@Suite struct PacketWaitTests {
  /// The way of a track of VP8, one keyframe a packet, into the shipped template.
  private struct Run {
    let reception: TrackReception
    let pipeline: ReceivePipeline
    let start = MediaTime.now

    init(isRepaired: Bool) throws {
      let track = try #require(
        OfferedTrack(try OfferedTrackTests().section(), mids: [:], codecs: ["TR_VC": ["video/VP8"]]))
      var configuration = RTPReceiver.Configuration(track)
      (configuration.usesNACK, configuration.usesPLI) = (isRepaired, isRepaired)
      let reception = TrackReception(
        track, clock: ParticipantClock(), configuration: configuration, onOtherCodec: { _ in }, onStream: { _ in })
      self.reception = reception
      // Whoever pushes is asked by the depayloader, on the one thread of a test.
      nonisolated(unsafe) let asked = reception
      pipeline = try ReceivePipeline(
        factory: PipelineFactory(folder: nil), template: "vp8", values: [:], isVideo: true,
        payloadType: PayloadType(96), to: TrackOutputs(isVideo: true, onKeyframeNeeded: {}), clock: { _ in nil },
        onKeyframeNeeded: { asked.requestKeyframe() })
      reception.attach(pipeline, at: start)
    }

    func receive(_ number: UInt16, isKeyframe: Bool = true, at milliseconds: Int = 0) {
      let packet = RTPPacket(
        payloadType: PayloadType(96), sequenceNumber: SequenceNumber(number), timestamp: UInt32(number) * 3600,
        ssrc: SSRC(10), marker: true,
        payload: [0x10, isKeyframe ? 0x10 : 0x11, 0, 0, 0x9d, 0x01, 0x2a, 0x40, 0x01, 0xf0, 0])
      reception.receive(packet, at: start + .milliseconds(milliseconds))
      reception.flush()
    }

    /// Requests of packets and of keyframes.
    func poll(at milliseconds: Int) -> (nacks: Int, keyframes: Int) {
      let packets = reception.poll(at: start + .milliseconds(milliseconds))
      return (
        packets.count { if case .nack = $0 { true } else { false } },
        packets.count { if case .pictureLossIndication = $0 { true } else { false } }
      )
    }
  }

  /// Audio asks for no packet again, so nothing else would wake the loop, which looks at deadlines after each round: after the
  /// last words there may be silence.
  @Test func whatWaitsHasADeadline() async throws {
    let run = try Run(isRepaired: false)
    for number in [1, 3] as [UInt16] {
      run.receive(number)
      #expect((run.reception.feed?.nextDeadline == nil) == (number == 1))
    }
    #expect(run.reception.feed?.nextDeadline == run.start + RepairWait.unmeasured)
    #expect(try #require(run.reception.nextDeadline) <= run.start + RepairWait.unmeasured)
    await run.pipeline.stop()
  }

  /// A server repeats no packets while a keyframe is asked for, so each request that is not needed costs the next repair.
  @Test func aKeyframeBehindTheLossIsTheAnswer() async throws {
    let run = try Run(isRepaired: true)
    run.receive(1)
    run.receive(3, isKeyframe: false, at: 40)
    run.receive(4, at: 60)
    run.receive(5, isKeyframe: false, at: 80)
    _ = run.poll(at: 0)
    let requests = stride(from: 85, to: 3000, by: 5).map { run.poll(at: $0) }
    #expect(requests.reduce(0) { $0 + $1.keyframes } == 0 && run.reception.feed?.position == SequenceNumber(6))
    await run.pipeline.stop()
  }

  /// What is before it cannot be decoded, however it is repaired.
  @Test func aWholeKeyframeWaitsForNothingOnceOneIsNeeded() async throws {
    let run = try Run(isRepaired: true)
    run.receive(1)
    run.receive(3, isKeyframe: false, at: 40)
    for time in stride(from: 0, to: 400, by: 5) { _ = run.poll(at: time) }
    #expect(run.reception.feed?.position == SequenceNumber(4))
    run.receive(5, isKeyframe: false, at: 400)
    run.receive(7, isKeyframe: false, at: 410)
    #expect(run.reception.feed?.position == SequenceNumber(4), "no keyframe yet")
    run.receive(9, at: 420)
    #expect(run.reception.feed?.position == SequenceNumber(10))
    run.receive(11, isKeyframe: false, at: 430)
    #expect(run.reception.feed?.position == SequenceNumber(10), "of what can be decoded a loss is waited for")
    let later = stride(from: 435, to: 700, by: 5).map { run.poll(at: $0) }
    #expect(later.reduce(0) { $0 + $1.keyframes } == 0)
    await run.pipeline.stop()
  }

  /// The depayloader asks for a keyframe as soon as the stream goes on without what was lost.
  @Test func aLossThatNobodyRepairsCostsOneKeyframe() async throws {
    let run = try Run(isRepaired: true)
    run.receive(1)
    for number in 3...5 as ClosedRange<UInt16> { run.receive(number, isKeyframe: false, at: 40) }
    // That of the beginning is none of the loss.
    _ = run.poll(at: 0)
    #expect(stride(from: 45, to: 380, by: 5).map { run.poll(at: $0) }.reduce(0) { $0 + $1.nacks } > 3)
    let requests = stride(from: 380, to: 440, by: 5).map { run.poll(at: $0) }
    #expect(requests.reduce(0) { $0 + $1.keyframes } == 1)
    run.receive(6, at: 440)
    let later = stride(from: 440, to: 3000, by: 5).map { run.poll(at: $0) }
    #expect(later.reduce(0) { $0 + $1.nacks } == 0 && later.reduce(0) { $0 + $1.keyframes } == 0)
    await run.pipeline.stop()
  }

  /// Some seconds of a fast track are not asked for again, so nobody waits for them either.
  @Test func behindALargeHoleTheStreamGoesOnAtOnce() async throws {
    let run = try Run(isRepaired: true)
    run.receive(1)
    _ = run.poll(at: 0)
    run.receive(2000, isKeyframe: false, at: 40)
    #expect(run.reception.feed?.nextDeadline == nil && run.reception.feed?.position == SequenceNumber(2001))
    #expect(run.poll(at: 40) == (0, 1))
    await run.pipeline.stop()
  }
}
