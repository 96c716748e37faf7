import Bitstream
import MediaCore
import Testing

@testable import RTP

@Suite("The order of frames, by their packets")
struct FrameOrderTests {
  /// Of x264's high profile with B-frames.
  private static let parameters: [UInt8] = [
    0x67, 0x64, 0x00, 0x0a, 0xac, 0xd9, 0x42, 0x8d, 0xb0, 0x11, 0, 0, 3, 0, 1, 0, 0, 3, 0, 0x14, 0x0f, 0x12, 0x25, 0x96,
  ]

  private func reorders(_ payload: [UInt8]) -> Bool? { payload.withUnsafeBytes { VideoCodec.h264.reordersFrames($0) } }

  @Test func aParameterSetSaysItAloneAndAmongOthers() {
    #expect(reorders(Self.parameters) == true)
    let set = [0, UInt8(Self.parameters.count)] + Self.parameters
    #expect(reorders([0x18] + set + [0, 2, 0x68, 0x87]) == true)
    // Behind a delimiter.
    #expect(reorders([0x18, 0, 2, 0x09, 0x10] + set) == true)
  }

  @Test func otherPacketsDoNot() {
    #expect(reorders([0x7c, 0x85, 1, 2]) == nil)
    #expect(reorders([0x65, 1, 2]) == nil)
    #expect(reorders([0x18, 0, 2, 0x68, 0x87]) == nil)
    // Cut off.
    #expect(reorders([0x18, 0, 200] + Self.parameters.prefix(6)) == nil)
    #expect(reorders([0x18, 0]) == nil)
    #expect(reorders([]) == nil)
  }
}
