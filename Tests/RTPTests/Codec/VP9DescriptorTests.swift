import Bitstream
import MediaCore
import Testing

@testable import RTP

@Suite("VP9 payload descriptors (RFC 9628, 4.2)")
struct VP9DescriptorTests {
  private func descriptor(_ text: String) -> VP9Descriptor? { hex(text).withUnsafeBytes { VP9Descriptor($0) } }

  @Test func numbersOfEitherWidth() {
    #expect(descriptor("88 7f 82")?.pictureID == 0x7f && descriptor("88 7f 82")?.pictureIDBits == 0x7f)
    #expect(descriptor("88 ff fe 82")?.pictureID == 0x7ffe && descriptor("88 ff fe 82")?.pictureIDBits == 0x7fff)
    #expect(descriptor("08 82")?.pictureID == nil)
    #expect(descriptor("88") == nil && descriptor("88 ff") == nil && descriptor("") == nil)
  }

  /// In flexible mode a frame that needs others says which, and no index of the base layer.
  @Test func theFrameIsBehindAllOfIt() {
    for (text, length) in [("08 82", 1), ("a8 01 00 00 82", 4), ("f8 01 00 02 86", 4), ("f8 01 00 03 05 02 86", 6)] {
      #expect(descriptor(text)?.length == length, "\(text)")
    }
    #expect(descriptor("fa 01 00 02 20 86")?.spatialLayers == 2)
    // No more than three others, whatever they say.
    #expect(descriptor("f8 01 00 03 05 07 86")?.length == 6)
  }

  @Test(arguments: [
    // Upper layers, whatever they begin; in flexible mode, too.
    ("a8 01 02 00 82", true), ("a0 01 04 00 11", true), ("f8 01 23 02 86", true),
    // The lowest layer alone says nothing, nor do temporal ones.
    ("a8 01 00 00 82", false), ("e8 01 40 05 86", false), ("f8 01 40 02 86", false), ("08 82", false),
    // The structure of a keyframe: of one layer with its size and a group of pictures, of two, and of three with sizes.
    ("0a 18 01 40 00 b4 01 00 82", false), ("0a 00 82", false), ("0a 20 82", true),
    ("aa 01 00 00 50 01 40 00 b4 02 80 01 68 05 00 02 d0 82", true),
    // Cut off.
    ("0a", false), ("a8 01", false), ("", false),
  ])
  func spatialLayersAreToldFromAllElse(payload: String, areThere: Bool) {
    #expect(hex(payload).withUnsafeBytes { VideoCodec.vp9.hasSpatialLayers($0) } == areThere, "\(payload)")
  }

  @Test func otherCodecsHaveNoneThatConcernAFile() {
    for codec in VideoCodec.allCases where codec != .vp9 {
      #expect(!hex("a8 01 02 00 82").withUnsafeBytes { codec.hasSpatialLayers($0) })
    }
  }

  /// In KEY modes none of the frames between keyframes needs the layer below.
  @Test(arguments: [
    ("e8 01 22 05 86", "e8 01 23 05 86"), ("f8 01 04 02 86", "f8 01 05 02 86"), ("e8 01 23 05 86", "e8 01 23 05 86"),
    ("e8 01 20 05 86", "e8 01 20 05 86"), ("c8 01 86", "c8 01 86"), ("", ""),
  ])
  func aHigherLayerGoesOnWithItsPicture(payload: String, joined: String) {
    let packet = RTPPacket(
      payloadType: PayloadType(98), sequenceNumber: SequenceNumber(1), timestamp: 0, ssrc: SSRC(1),
      payload: hex(payload))
    packet.joinVP9Layers()
    #expect(packet.withPayload { Array($0) } == hex(joined))
  }
}
