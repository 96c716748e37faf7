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

  /// The beginnings of slices that x264 made, behind a delimiter, of the types I, P and B.
  @Test(arguments: [("6588", false), ("419a", false), ("019e", true)])
  func bFramesAreSeenInTheFirstSlice(_ slice: String, _ isBidirectional: Bool) {
    let (delimiter, slice) = (bytes("09f0"), bytes(slice) + [0x42, 0, 0, 3, 1])
    let byteStream = [0, 0, 0, 1] + delimiter + [0, 0, 1] + slice
    let units = [0, 0, 0, 2] + delimiter + [0, 0, 0, UInt8(slice.count)] + slice
    let seen = { (frame: [UInt8], size: Int?, codec: VideoCodec) in
      frame.withUnsafeBytes { codec.isBidirectional(frame: $0, lengthSize: size) }
    }
    #expect(seen(byteStream, nil, .h264) == isBidirectional)
    #expect(seen(units, 4, .h264) == isBidirectional)
    #expect(!seen(byteStream, nil, .vp8))
    for count in 0..<byteStream.count { _ = seen(Array(byteStream.prefix(count)), count % 5 + 1, .h264) }
  }

  @Test func theLengthInFrontOfEachUnitIsRead() {
    #expect(VideoCodec.lengthSize(ofRecord: bytes("0142c01fffe1")) == 4)
    #expect(VideoCodec.lengthSize(ofRecord: bytes("0142c01ffde1")) == 2)
    #expect(VideoCodec.lengthSize(ofRecord: bytes("0000000167")) == nil)
    #expect(VideoCodec.lengthSize(ofRecord: []) == nil)
  }

  @Test func theParametersAreFoundInARecordAndInAKeyframe() {
    func seen(record: [UInt8]? = nil, _ keyframe: [UInt8] = []) -> Bool? {
      keyframe.withUnsafeBytes { VideoCodec.h264.reordersFrames(record: record, keyframe: $0) }
    }
    for (set, isReordered) in [(Self.baseline, false), (Self.highWithBFrames, true)] {
      let set = bytes(set)
      let record = bytes("0164000affe1") + [0, UInt8(set.count)] + set + bytes("01000468ebe3cb")
      #expect(seen(record: record) == isReordered)
      #expect(seen(bytes("0000000109f0000001") + set + bytes("000001") + [0x65, 0x88]) == isReordered)
      for count in 0..<record.count { _ = seen(record: Array(record.prefix(count))) }
    }
    #expect(seen(record: []) == nil)
    #expect(seen() == nil)
  }
}
