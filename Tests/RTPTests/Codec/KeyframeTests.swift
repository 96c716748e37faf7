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
    ("08 00", true), ("48 00", false), ("00 00", false), ("a8 01 00 00", true), ("a8 80 01 00 00", true),
    ("a8 01 02 00", false), ("a8", false), ("28", false), ("", false),
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
