import Bitstream
import MediaCore
import Testing

@testable import RTP

/// The frames of one macroblock with which a LiveKit server ends a track.
@Suite struct BlankFrameTests {
  private func isBlank(_ codec: VideoCodec, _ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { codec.isBlankFrame($0) }
  }

  private static func vp8(_ width: UInt8, _ height: UInt8, descriptor: [UInt8] = [0x10]) -> [UInt8] {
    descriptor + [0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, width, 0, height, 0, 0x47, 0x08]
  }

  /// Baseline with the parameter set's id 30, as the server writes it, and the size in macroblocks that follows.
  private static func stapA(size: UInt8) -> [UInt8] {
    let parameters: [UInt8] = [0x67, 0x42, 0xc0, 0x1f, 0x0f, 0xd9, size, 0x88, 0x88]
    return [0x18, 0, UInt8(parameters.count)] + parameters + [0, 2, 0x68, 0x87, 0, 3, 0x65, 0x88, 0x84]
  }

  @Test func knowsThoseOfTheServer() {
    #expect(isBlank(.vp8, Self.vp8(8, 8)))
    // With picture id, TL0PICIDX and TID, as the server continues them.
    #expect(isBlank(.vp8, Self.vp8(8, 8, descriptor: [0x90, 0xe0, 0x81, 0x23, 7, 0x20])))
    #expect(isBlank(.h264, Self.stapA(size: 0x1f)))
  }

  @Test func leavesRealFrames() {
    #expect(!isBlank(.vp8, Self.vp8(160, 120)) && !isBlank(.vp8, Self.vp8(8, 120)))
    #expect(!isBlank(.vp8, [0x10, 0x11] + Self.vp8(8, 8).dropFirst(2)))
    #expect(!isBlank(.vp8, [0x00] + Self.vp8(8, 8).dropFirst()))
    // Two macroblocks wide, then with a unit of another kind first.
    #expect(!isBlank(.h264, Self.stapA(size: 0x12)))
    #expect(!isBlank(.h264, [0x18, 0, 2, 0x06, 0x05] + Self.stapA(size: 0x1f).dropFirst()))
    #expect(!isBlank(.h264, Self.stapA(size: 0x1f) + [UInt8](repeating: 0, count: 300)))
  }

  @Test func survivesGarbage() {
    for sample in [Self.stapA(size: 0x1f), Self.vp8(8, 8, descriptor: [0x90, 0xe0, 0x81, 0x23, 7, 0x20])] {
      for length in 0...sample.count {
        for index in 0..<length {
          var bytes = Array(sample.prefix(length))
          for value in [UInt8(0), 0x7f, 0xff] {
            bytes[index] = value
            for codec in [VideoCodec.vp8, .vp9, .h264, .h265, .av1] { _ = isBlank(codec, bytes) }
          }
        }
      }
    }
  }

  /// Whoever waits for numbers sees it, but there is nothing in it to be shown.
  @Test func areHandedOnWithoutTheirFrame() throws {
    var receiver = RTPReceiver(
      configuration: .init(clockRate: 90_000, formats: [PayloadType(96): .video(.vp8)], usesNACK: true))
    func packet(_ number: UInt16, _ payload: [UInt8]) -> RTPPacket {
      RTPPacket(
        payloadType: PayloadType(96), sequenceNumber: SequenceNumber(number), timestamp: UInt32(number) * 3000,
        ssrc: SSRC(1), payload: payload)
    }
    let now = MediaTime.now
    #expect(receiver.receive(packet(1, Self.vp8(160, 120)), at: now).map(\.payloadLength) == [13])
    let blank = receiver.receive(packet(2, Self.vp8(8, 8)), at: now)
    #expect(blank.map(\.isPaddingOnly) == [true] && blank.map(\.sequenceNumber) == [SequenceNumber(2)])
    #expect(receiver.statistics.keyframesReceived == 1 && receiver.statistics.packetsReceived == 1)
  }
}
