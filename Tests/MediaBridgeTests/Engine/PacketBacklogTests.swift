import MediaCore
import RTP
import Testing

@testable import MediaBridge

@Suite struct PacketBacklogTests {
  private let start = MediaTime.now

  /// A packet each 20 ms.
  private func fill(_ backlog: inout PacketBacklog, isVideo: Bool, seconds: Double) {
    for number in 0..<Int(seconds * 50) {
      let packet = RTPPacket(
        payloadType: PayloadType(96), sequenceNumber: SequenceNumber(UInt16(number)), timestamp: UInt32(number) * 960,
        ssrc: SSRC(1), marker: true, payload: [1])
      backlog.add(packet, beginsAnew: !isVideo || number == 0, at: start + .milliseconds(number * 20))
    }
  }

  private func kept(isVideo: Bool, after seconds: Double) -> [Double] {
    var backlog = PacketBacklog(isVideo: isVideo)
    fill(&backlog, isVideo: isVideo, seconds: seconds)
    return backlog.take(at: start + .seconds(seconds)).map { ($0.time - start) / .seconds(1) }
  }

  @Test(arguments: [true, false]) func whatAnOutputTakesToBeMadeIsThere(_ isVideo: Bool) {
    #expect(kept(isVideo: isVideo, after: 3).first == 0 && kept(isVideo: isVideo, after: 3).count == 150)
  }

  @Test func nobodyIsGivenWhatIsLongPast() {
    let audio = kept(isVideo: false, after: 5.5)
    #expect(audio.first.map { $0 >= 1.5 } == true && audio.last.map { $0 > 5.4 } == true)
    #expect(kept(isVideo: true, after: 5.5).isEmpty, "another keyframe is asked for")
  }

  /// Keyframes are sent on request: where nobody asks, nothing of what comes is ever handed out.
  @Test func whatNobodyCanBeginWithIsNotKept() {
    var backlog = PacketBacklog(isVideo: true)
    fill(&backlog, isVideo: true, seconds: 20)
    #expect((1...40).contains(backlog.packets.count))
    // Of a track that is muted nothing comes that would drop it.
    backlog.dropOld(at: start + .seconds(25))
    #expect(backlog.packets.isEmpty)
    var audio = PacketBacklog(isVideo: false)
    fill(&audio, isVideo: false, seconds: 1)
    audio.dropOld(at: start + .seconds(4))
    #expect(audio.packets.count == 50, "some of it may be heard")
    audio.dropOld(at: start + .seconds(7))
    #expect(audio.packets.isEmpty)
  }

  /// Its first packet was lost, and comes again.
  @Test func theRestOfAKeyframeWaitsForItsBeginning() {
    var backlog = PacketBacklog(isVideo: true)
    fill(&backlog, isVideo: true, seconds: 10)
    for (number, delay) in [(1001, 0), (1002, 10), (1000, 250)] {
      let packet = RTPPacket(
        payloadType: PayloadType(96), sequenceNumber: SequenceNumber(UInt16(number)), timestamp: 960_000, ssrc: SSRC(1),
        marker: number == 1002, payload: [1])
      backlog.add(packet, beginsAnew: number == 1000, at: start + .milliseconds(10_000 + delay))
    }
    let taken = backlog.take(at: start + .seconds(10.3))
    #expect(taken.map(\.packet.sequenceNumber.rawValue) == [1000, 1001, 1002])
  }

  @Test func whatIsKeptTakesNoMoreMemoryThanItNeeds() throws {
    var backlog = PacketBacklog(isVideo: false)
    let audio = RTPPacket(
      payloadType: PayloadType(111), sequenceNumber: SequenceNumber(1), timestamp: 960, ssrc: SSRC(1),
      payload: [UInt8](repeating: 7, count: 100))
    let datagram = PacketBuffer()
    audio.withUnsafeBytes { bytes in datagram.withUnsafeMutableBytes { $0.copyMemory(from: bytes) } }
    datagram.count = audio.count
    backlog.add(try RTPPacket(parsing: datagram), beginsAnew: true, at: start)
    let kept = try #require(backlog.take(at: start).first).packet
    #expect(kept.buffer.capacity < 300 && kept.withPayload { $0.elementsEqual([UInt8](repeating: 7, count: 100)) })
  }

  /// Where the network changes their order, the beginning of the keyframe may come behind the next frame.
  @Test func whatHasOvertakenAKeyframesBeginningFollowsIt() {
    var backlog = PacketBacklog(isVideo: true)
    for number in [1, 5, 4, 6, 3, 2] {
      let packet = RTPPacket(
        payloadType: PayloadType(96), sequenceNumber: SequenceNumber(UInt16(number)),
        timestamp: number < 3 ? 960 : number < 5 ? 3840 : 6720, ssrc: SSRC(1), marker: [2, 4, 6].contains(number),
        payload: [1])
      backlog.add(packet, beginsAnew: number == 3, at: start)
    }
    #expect(backlog.take(at: start).map(\.packet.sequenceNumber.rawValue) == [3, 4, 5, 6])
  }

  /// An access unit delimiter of H.264 may come in a packet of its own, before the keyframe's first.
  @Test func aKeyframeMayBeginBehindADelimiter() {
    var backlog = PacketBacklog(isVideo: true)
    for (number, beginsAnew) in [false, true, false].enumerated() {
      let packet = RTPPacket(
        payloadType: PayloadType(96), sequenceNumber: SequenceNumber(UInt16(number)), timestamp: 960, ssrc: SSRC(1),
        marker: number == 2, payload: [1])
      backlog.add(packet, beginsAnew: beginsAnew, at: start)
    }
    #expect(backlog.frames == [960] && backlog.take(at: start).count == 3)
  }
}
