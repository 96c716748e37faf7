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

  /// A slice of a keyframe may be any of several, and parameter sets may stand in front of each.
  @Test(
    arguments: [
      ("67 42", .parameterSets), ("65 88", .firstSlice), ("65 11", .laterSlice), ("65", .laterSlice), ("41 9a", nil),
      ("7c 85 88", .firstSlice), ("7c 85 11", .laterSlice), ("7c 05 88", nil), ("7c 85", .laterSlice), ("7c", nil),
      ("78 00 02 09 10 00 02 67 42 00 02 68 ce", .parameterSets), ("78 00 02 67 42 00 02 65 88", .beginning),
      ("78 00 02 67 42 00 02 65 11", .laterSlice), ("78 00 02 65 11 00 02 67 42", .laterSlice),
      ("78 00 02 65 88 00 02 67 42", .firstSlice), ("78 00 02 67 42 00 02 65 88 00 02 65 11", .beginning),
      ("78 00 01 65", .laterSlice), ("78 00 02 41 9a", nil), ("68 ce", nil), ("", nil),
    ] as [(String, KeyframePart?)])
  func partsOfAKeyframeOfH264(payload: String, expected: KeyframePart?) {
    #expect(hex(payload).withUnsafeBytes { VideoCodec.h264.keyframePart($0) } == expected)
  }

  @Test(
    arguments: [
      (.h265, "40 01 0c", .parameterSets), (.h265, "42 01 01", .parameterSets), (.h265, "44 01 c0", nil),
      (.h265, "26 01 af", .firstSlice), (.h265, "26 01 20", .laterSlice), (.h265, "26 01", .laterSlice),
      (.h265, "02 01 d0", nil), (.h265, "62 01 93 af", .firstSlice), (.h265, "62 01 93 20", .laterSlice),
      (.h265, "62 01 13 af", nil), (.h265, "62 01", nil), (.h265, "60 01 00 03 42 01 01 00 03 26 01 af", .beginning),
      (.h265, "60 01 00 03 42 01 01 00 03 26 01 20", .laterSlice), (.h265, "", nil),
      (.vp8, "10 00", .beginning), (.vp8, "00 00", nil), (.vp9, "08 82", .beginning), (.av1, "18 0a", .beginning),
    ] as [(VideoCodec, String, KeyframePart?)])
  func partsOfAKeyframeOfOtherCodecs(codec: VideoCodec, payload: String, expected: KeyframePart?) {
    #expect(hex(payload).withUnsafeBytes { codec.keyframePart($0) } == expected)
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
