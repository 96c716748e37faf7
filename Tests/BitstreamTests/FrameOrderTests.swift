import Testing

@testable import Bitstream

@Suite("The order of H.264's frames")
struct FrameOrderTests {
  /// Parameter sets that x264 made.
  private static let baseline = "6742c00ad9028db011000003000100000300140f122648"
  private static let high = "6764000aacb2051b6022000003000200000300281e244c90"
  private static let highWithBFrames = "6764000aacd9428db011000003000100000300140f122596"
  private static let buffered = "674d400deca146d80880000003008000000a301000f420003d09496500f1429960"

  private func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).compactMap { offset in
      UInt8(hex.dropFirst(offset).prefix(2), radix: 16)
    }
  }

  private func reorders(_ bytes: [UInt8], _ codec: VideoCodec = .h264) -> Bool? {
    bytes.withUnsafeBytes { codec.reordersFrames(unit: $0) }
  }

  @Test func bFramesAreSeenInTheParameterSet() {
    #expect(reorders(bytes(Self.baseline)) == false)
    #expect(reorders(bytes(Self.high)) == false)
    #expect(reorders(bytes(Self.highWithBFrames)) == true)
    // Behind the parameters of a decoder's buffer.
    #expect(reorders(bytes(Self.buffered)) == true)
  }

  @Test func whatDoesNotSayItIsUnknown() {
    // The end of the usability information is missing.
    #expect(reorders(Array(bytes(Self.highWithBFrames).dropLast(4))) == nil)
    #expect(reorders([0x65, 0x88]) == nil)
    #expect(reorders([]) == nil)
    #expect(reorders(bytes(Self.highWithBFrames), .vp8) == nil)
  }
}
