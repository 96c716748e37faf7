import Bitstream
import Testing

@testable import RTP

@Suite("Finding keyframes")
struct KeyframeTests {
  private func starts(_ codec: VideoCodec, _ payload: String) -> Bool {
    hex(payload).withUnsafeBytes { codec.startsKeyframe($0) }
  }

  @Test(arguments: [
    ("10 00", true), ("10 01", false), ("00 00", false), ("11 00", false), ("10", false), ("", false),
    ("90 80 81 23 00", true), ("90 80 81 23 01", false), ("90 e0 12 07 40 00", true), ("90 f0 92 34 07 40 00", true),
    ("90 80", false), ("90 80 81", false), ("90 40", false), ("90 20", false), ("90", false),
  ])
  func vp8(payload: String, expected: Bool) { #expect(starts(.vp8, payload) == expected) }

  @Test(arguments: [
    ("08 82", true), ("48 82", false), ("00 82", false), ("a8 01 00 00 82", true), ("a8 80 01 00 00 82", true),
    ("a8 01 02 00 82", false), ("a8", false), ("28", false), ("", false),
    // What pion writes in flexible mode, of a keyframe and of others; profiles 2 and 3.
    ("98 80 01 82", true), ("98 80 01 86", false), ("9c 80 01 86", false), ("98 80 01 8a", false),
    ("98 80 01 02", false),
    ("98 80 01 92", true), ("98 80 01 b0", true), ("98 80 01 b4", false), ("98 80 01 b2", false), ("98 80 01", false),
    // Behind a structure: none, the size of a layer, sizes of two layers and two pictures of a group.
    ("0a 00 82", true), ("0a 10 01 40 00 b4 82", true), ("0a 10 01 40 00 b4 86", false),
    ("ba 81 02 00 38 01 40 00 b4 02 80 01 68 02 00 14 01 82", true),
    ("ba 81 02 00 38 01 40 00 b4 02 80 01 68 02 00 14 01 86", false), ("0a 18 01", false), ("0a 08 ff 0c", false),
    ("0a", false),
  ])
  func vp9(payload: String, expected: Bool) { #expect(starts(.vp9, payload) == expected) }

  @Test(arguments: [
    ("67 42", true), ("65 88", true), ("68 ce", false), ("41 9a", false), ("78 00 02 09 10 00 02 67 42", true),
    ("78 00 02 09 10 00 02 41 42", false), ("78 00 00 67", false), ("78 ff ff 67", true), ("7c 85", true),
    ("7c 05", false),
    ("7c 81", false), ("7c", false), ("78", false), ("", false),
  ])
  func h264(payload: String, expected: Bool) { #expect(starts(.h264, payload) == expected) }

  @Test(arguments: [
    ("65 88", true), ("65 11", false), ("65", false), ("67 42", false), ("41 9a", false), ("7c 85 88", true),
    ("7c 85 11", false), ("7c 05 88", false), ("7c 85", false), ("78 00 02 67 42 00 02 65 88", true),
    ("78 00 02 67 42 00 02 65 11", false), ("78 00 01 65", false), ("", false),
  ])
  func theFirstSliceOfH264(payload: String, expected: Bool) {
    #expect(hex(payload).withUnsafeBytes { VideoCodec.h264.startsFirstSlice($0) } == expected)
  }

  /// A slice of a keyframe may be any of several.
  @Test func parameterSetsOpenAKeyframeOfH264() {
    func opens(_ codec: VideoCodec, _ payload: String) -> Bool {
      hex(payload).withUnsafeBytes { codec.opensKeyframe($0) }
    }
    #expect(opens(.h264, "67 42") && opens(.h264, "78 00 02 67 42 00 02 65 88") && !opens(.h264, "65 88"))
    #expect(opens(.vp8, "10 00") && !opens(.vp8, "00 00") && !opens(.h264, ""))
  }

  @Test(arguments: [
    ("40 01", true), ("26 01", true), ("02 01", false), ("60 01 00 02 26 01", true), ("62 01 93", true),
    ("62 01 13", false), ("62 01", false), ("60 01", false),
  ])
  func h265(payload: String, expected: Bool) { #expect(starts(.h265, payload) == expected) }

  @Test(arguments: [("18 0a", true), ("08", true), ("10 32", false), ("88 00", false), ("", false)])
  func av1(payload: String, expected: Bool) { #expect(starts(.av1, payload) == expected) }

  @Test(
    arguments: [
      (VideoCodec.h264, "67 42", true), (.h264, "65 88", false), (.h264, "78 00 02 09 10 00 02 67 42", true),
      (.h264, "7c 85", false), (.h264, "", false), (.h265, "40 01", true), (.h265, "42 01", true),
      (.h265, "44 01", false),
      (.h265, "26 01", false), (.vp8, "10 00", nil),
    ] as [(VideoCodec, String, Bool?)])
  func parameterSets(codec: VideoCodec, payload: String, expected: Bool?) {
    #expect(hex(payload).withUnsafeBytes { codec.startsParameterSets($0) } == expected)
  }

  @Test func codecsByName() {
    #expect(hex("10 00").withUnsafeBytes { VideoCodec(encodingName: "VP8")?.startsKeyframe($0) } == true)
    #expect(VideoCodec(encodingName: "opus") == nil)
    #expect(VideoCodec(encodingName: "h264") == .h264)
  }
}
