import ArgumentParser
import Egress
import MediaBridge

/// Options for what is encoded: short for variables of the templates.
struct EncodingArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Size, frames a second and bitrates as LiveKit Egress has them: \
      \(EncodingOptionsPreset.allCases.map(\.rawValue).joined(separator: ", ")). What is given beside it goes before it. The \
      frames of one participant come as often as they are sent
      """, valueName: "preset"), transform: word(named:))
  var preset: EncodingOptionsPreset?

  @Option(
    help: ArgumentHelp("Size of the frames; of mixed ones 1280x720 unless given", valueName: "size"),
    transform: size(of:))
  var size: Dimensions?

  @Option(help: "Width of the frames in pixels; the height follows unless given") var width: Int?
  @Option(help: "Height of the frames in pixels; the width follows unless given") var height: Int?
  @Option(help: "Mixed frames a second; 30 unless given") var fps: Int?

  @Option(
    help: ArgumentHelp("Bitrate of encoded video, such as 3000 for 3 Mbit/s", valueName: "kbit/s"),
    transform: videoBitrate(of:))
  var videoBitrate: Int?

  @Option(help: ArgumentHelp("Bitrate of encoded audio, 6 to 510", valueName: "kbit/s"), transform: audioBitrate(of:))
  var audioBitrate: Int?

  @Option(
    help: ArgumentHelp(
      "Longest time between two keyframes, such as 2s, for which whoever sends is asked where video is stored as sent",
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

  var options: EncodingOptions {
    EncodingOptions(
      preset: preset, width: width ?? size.map { Int($0.width) }, height: height ?? size.map { Int($0.height) },
      framerate: fps, videoBitrate: videoBitrate, audioBitrate: audioBitrate, keyFrameInterval: keyframeInterval)
  }
}

/// The transform of options that take one of several words.
func word<Word: RawRepresentable<String> & CaseIterable>(named name: String) throws -> Word {
  guard let word = Word(rawValue: name) else {
    throw ValidationError("give one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
  }
  return word
}
