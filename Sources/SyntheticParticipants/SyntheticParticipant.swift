import MediaBridge

extension CapturePublisher {
  /// A moving test image with a clock, and a tone: the participants of the demo and of tests.
  /// - Parameters:
  ///   - codec: of the frames: `vp8`, `vp9` or `h264`.
  ///   - values: for the variables of the text of the frames, such as `width`, `height` and `text`.
  ///   - audioValues: for those of the template `test-audio`, such as `frequency`.
  public static func synthetic(
    codec: String, values: [String: String] = [:], audioValues: [String: String] = [:], pipelineFolder: String? = nil
  ) -> CapturePublisher {
    let width = values["width"].flatMap(Int32.init) ?? 640
    let height = values["height"].flatMap(Int32.init) ?? 360
    let video = CaptureOptions(
      template: syntheticTemplate(codec: codec), kind: .video, source: .camera, codec: codec,
      dimensions: Dimensions(width: width, height: height), values: values)
    let audio = CaptureOptions(
      template: "test-audio", kind: .audio, source: .microphone, codec: "opus",
      values: audioValues)
    return CapturePublisher(captures: [video, audio], pipelineFolder: pipelineFolder)
  }

  /// The capture template of the frames.
  package static func syntheticTemplate(codec: String) -> String {
    codec == "vp8" ? "test-video" : "test-video-\(codec)"
  }

  /// A participant whose camera is a clip.
  package static func showing(_ clip: CaptureClip, codec: String) -> CapturePublisher {
    var video = CaptureOptions(
      template: "", kind: .video, source: .camera, codec: codec, dimensions: clip.layers.last?.dimensions)
    video.clip = clip
    return CapturePublisher(captures: [video])
  }
}
