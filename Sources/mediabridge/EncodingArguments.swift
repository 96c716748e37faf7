import ArgumentParser
import Egress
import MediaBridge

/// Options for what is encoded: short for variables of the templates.
struct EncodingArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Size, frames a second and bitrates as LiveKit Egress has them: \
      \(EncodingOptionsPreset.allCases.map(\.rawValue).joined(separator: ", ")), or by its names, such as \
      H264_720P_30. Options given beside it override it. The frames of one participant come as often as they are sent
      """, valueName: "preset"), transform: preset(named:))
  var preset: EncodingOptionsPreset?

  @Option(
    help: ArgumentHelp("Size of the frames; of mixed ones 1280x720 unless given", valueName: "size"),
    transform: size(of:))
  var size: Dimensions?

  @Option(help: "Width of the frames in pixels; the height follows unless given", transform: count(of:))
  var width: Int?
  @Option(help: "Height of the frames in pixels; the width follows unless given", transform: count(of:))
  var height: Int?
  @Option(help: "Mixed frames a second; 30 unless given", transform: count(of:)) var fps: Int?

  @Option(
    help: ArgumentHelp(
      """
      Bitrate of encoded video, such as 3000 for 3 Mbit/s; without it as the presets have it for that size and \
      rate: 3000 for 1280x720, 4500 for 1920x1080, with 60 frames a second 6000
      """, valueName: "kbit/s"),
    transform: videoBitrate(of:))
  var videoBitrate: Int?

  @Option(
    help: ArgumentHelp("Bitrate of encoded audio, 6 to 510; 128 unless given", valueName: "kbit/s"),
    transform: audioBitrate(of:))
  var audioBitrate: Int?

  @Option(
    help: ArgumentHelp(
      "Longest time between two keyframes, such as 2s; where video is stored as sent, its sender is asked for them",
      valueName: "time"), transform: duration(of:))
  var keyframeInterval: Duration?

  func validate() throws {
    guard size != nil, width != nil || height != nil else { return }
    throw ValidationError("--size and --\(width != nil ? "width" : "height") exclude each other: both are the size")
  }

  /// Those that were given and are for video alone.
  var ofVideo: [String] {
    let given = [
      ("--size", size != nil), ("--width", width != nil), ("--height", height != nil), ("--fps", fps != nil),
      ("--video-bitrate", videoBitrate != nil), ("--keyframe-interval", keyframeInterval != nil),
    ]
    return given.filter(\.1).map(\.0)
  }

  /// Those that were given and are for audio alone.
  var ofAudio: [String] { audioBitrate == nil ? [] : ["--audio-bitrate"] }

  var options: EncodingOptions {
    EncodingOptions(
      preset: preset, width: width ?? size.map { Int($0.width) }, height: height ?? size.map { Int($0.height) },
      framerate: fps, videoBitrate: videoBitrate, audioBitrate: audioBitrate, keyFrameInterval: keyframeInterval)
  }
}

/// The transform of `--preset`.
func preset(named name: String) throws -> EncodingOptionsPreset {
  try EncodingOptionsPreset(egressName: name) ?? word(named: name)
}

extension EncodingOptionsPreset {
  /// By which it is called, here and in LiveKit's API.
  static var allNames: [String] { allCases.map(\.rawValue) + allCases.map(\.egressName) }
}

/// The transform of options that take one of several words.
func word<Word: RawRepresentable<String> & CaseIterable>(named name: String) throws -> Word {
  guard let word = Word(rawValue: name) else {
    throw ValidationError("give one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
  }
  return word
}
