import MediaCore
import Testing

@testable import RTP

@Suite("Redundant audio (RFC 2198)")
struct RedundantAudioTests {
  private let formats: [PayloadType: RTPReceiver.Format] = [PayloadType(63): .redundant, PayloadType(111): .media]

  private func receiver() -> RTPReceiver {
    RTPReceiver(configuration: .init(ssrc: SSRC(0x1111), clockRate: 48_000, formats: formats))
  }

  /// A packet that carries its own frame and the `distance` frames before it.
  private func red(_ number: Int, distance: Int, type: UInt8 = 111) -> RTPPacket {
    var headers: [UInt8] = []
    var blocks: [UInt8] = []
    for back in stride(from: distance, to: 0, by: -1) {
      let frame = Array("frame \(number - back)".utf8)
      let word = UInt32(back * 960) << 10 | UInt32(frame.count)
      headers += [0x80 | type, UInt8(word >> 16), UInt8(word >> 8 & 255), UInt8(word & 255)]
      blocks += frame
    }
    return .media(
      number, type: 63, timestamp: UInt32(truncatingIfNeeded: number * 960),
      payload: headers + [type] + blocks + Array("frame \(number)".utf8))
  }

  @Test func ownFrameComesOutInPlace() {
    var receiver = receiver()
    let packet = red(65535, distance: 0)
    let out = receiver.receive(packet, at: .ms(0))
    #expect(out.count == 1)
    #expect(out.first?.text == "frame 65535" && out.first?.payloadType == PayloadType(111))
    #expect(out.first?.buffer.owner === packet.buffer.owner)
    #expect(out.first?.reparsed?.text == "frame 65535")
  }

  @Test func lostFramesComeOutOnceAndInOrder() {
    var receiver = receiver()
    _ = receiver.receive(red(65533, distance: 2), at: .ms(0))
    let out = Array(receiver.receive(red(65536, distance: 2), at: .ms(60)))
    #expect(out.map(\.text) == ["frame 65534", "frame 65535", "frame 65536"])
    #expect(out.map(\.sequenceNumber.rawValue) == [65534, 65535, 0])
    #expect(out.map(\.timestamp) == [65534, 65535, 65536].map { UInt32($0 * 960) })
    #expect(receiver.receive(red(65535, distance: 2), at: .ms(61)).isEmpty)
    #expect(receiver.receive(red(65537, distance: 2), at: .ms(80)).count == 1)
    #expect(receiver.statistics.packetsRecovered == 2)
  }

  @Test func nothingFromBeforeTheStart() {
    var receiver = receiver()
    #expect(receiver.receive(red(10, distance: 2), at: .ms(0)).map(\.text) == ["frame 10"])
  }

  /// A sender that repeats older frames than the numbers suggest must not have them come out twice.
  @Test func whatHasComeUnderAnotherNumberIsNotRecovered() {
    var receiver = receiver()
    _ = receiver.receive(red(1, distance: 0), at: .ms(0))
    // Number 2 is lost and the redundancy of number 3 holds frame 1, 1920 ticks back.
    let word = UInt32(1920) << 10 | 1
    let payload: [UInt8] = [0x80 | 111, UInt8(word >> 16), UInt8(word >> 8 & 255), UInt8(word & 255), 111, 65, 66]
    let out = receiver.receive(.media(3, type: 63, timestamp: 3 * 960, payload: payload), at: .ms(40))
    #expect(out.map(\.text) == ["B"])
  }

  @Test(arguments: ["", "80", "ef 00 00 05 6f 41", "ef 00", "ef 0f 00 01 ef 0f 00 01", "5f 41", "ef 00 03 ff 6f"])
  func brokenPayloadsAreDropped(payload: String) {
    var receiver = receiver()
    let out = receiver.receive(.media(1, type: 63, payload: hex(payload)), at: .ms(0))
    #expect(out.isEmpty || out.first?.isPaddingOnly == true)
  }

  @Test(arguments: 0..<10)
  func distanceTwoSurvivesLossOfTwo(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var receiver = receiver()
    var frames: [String] = []
    var lost = 0
    for number in 0..<2000 {
      lost = number > 0 && number < 1999 && lost < 2 && random.chance(0.3) ? lost + 1 : 0
      guard lost == 0 else { continue }
      frames += receiver.receive(red(number, distance: 2), at: .ms(Double(number) * 20)).map(\.text)
    }
    #expect(frames == (0..<2000).map { "frame \($0)" })
  }
}
