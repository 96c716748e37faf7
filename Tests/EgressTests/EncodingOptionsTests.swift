import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress
@testable import MediaBridge

/// Presets, and the options that are short for variables.
@Suite struct EncodingOptionsTests {
  /// The numbers of LiveKit Egress.
  @Test func presetsAreThoseOfEgress() {
    let told = EncodingOptionsPreset.allCases.map { "\($0.rawValue) \($0.size) \($0.framerate) \($0.videoBitrate)" }
    #expect(
      told == [
        "720p30 1280x720 30 3000", "720p60 1280x720 60 4500", "1080p30 1920x1080 30 4500", "1080p60 1920x1080 60 6000",
        "portrait-720p30 720x1280 30 3000", "portrait-720p60 720x1280 60 4500", "portrait-1080p30 1080x1920 30 4500",
        "portrait-1080p60 1080x1920 60 6000",
      ])
  }

  @Test func whatIsGivenGoesBeforeThePreset() {
    var encoding = EncodingOptions(preset: .portraitH264720p30, audioBitrate: 64)
    #expect(encoding.values == ["width": "720", "height": "1280", "bitrate": "3000", "audio-bitrate": "64"])
    encoding.width = 360
    encoding.keyFrameInterval = .milliseconds(1500)
    #expect(encoding.values["width"] == "360" && encoding.values["height"] == nil, "the other side keeps the shape")
    #expect(encoding.values["keyframe-interval"] == "1.5")
  }

  /// Whatever the element counts in.
  @Test(
    arguments: [
      ("h264", "x264enc", "bitrate", "500"), ("vp8", "vp8enc", "target-bitrate", "500000"),
      ("vp9", "vp9enc", "target-bitrate", "500000"), ("av1", "av1enc", "target-bitrate", "500"),
      ("aac", "avenc_aac", "bitrate", "500000"),
      ("opus", "opusenc", "bitrate", "500000"), ("mp3", "lamemp3enc", "bitrate", "500"),
    ])
  func bitratesAreInKilobits(_ template: String, _ element: String, _ property: String, _ value: String) throws {
    let values = ["bitrate": "500", "audio-bitrate": "500"]
    let filled = try PipelineFactory(folder: nil).fill(.encode, template, values: values)
    let encoder = try #require(filled.elements.first { $0.factory == element })
    #expect(encoder.properties.first { $0.name == property }?.value == value)
  }

  private func targets(_ file: String, _ encoding: EncodingOptions) throws(LiveKitError) -> [RecordingTarget] {
    var options = RecordingOptions(file: file, encoding: encoding)
    var targets = try RecordingTargets(options, folder: nil)
    try targets.check(&options)
    return targets.all
  }

  @Test func aPresetIsForTheKindsThatThereAre() throws {
    let target = try #require(try targets("x.mp3", EncodingOptions(preset: .h264720p30)).first)
    #expect(target.factory.overrides == ["audio-bitrate": "128"])
    let refused = #expect(throws: LiveKitError.self) { try targets("x.mp3", EncodingOptions(videoBitrate: 500)) }
    #expect(refused?.message.contains("bitrate") == true)
    for wrong in [
      EncodingOptions(keyFrameInterval: .seconds(2)), EncodingOptions(width: 641), EncodingOptions(audioBitrate: -1),
    ] {
      #expect(throws: LiveKitError.self) { try targets("x.mp3", wrong) }
    }
  }

  @Test func aSizeThatCannotBeIsNamedAsItWasGiven() {
    func refusal(_ encoding: EncodingOptions) -> String? {
      #expect(throws: LiveKitError.self) { try encoding.check() }?.message
    }
    #expect(refusal(EncodingOptions(width: 65, height: 65))?.hasPrefix("a size of 65x65: give even numbers") == true)
    #expect(refusal(EncodingOptions(width: 641))?.hasPrefix("a width of 641: give an even number") == true)
    #expect(refusal(EncodingOptions(height: 8))?.hasPrefix("a height of 8: ") == true)
  }

  /// A keyframe interval asks whoever sends, and encodes nothing.
  @Test func onlyWhatASenderCannotChangeIsEncoded() throws {
    func feed(_ encoding: EncodingOptions) throws -> (Feed.Way?, [[String]], Duration?) {
      let planner = try #require(try targets("x.mkv", encoding).first).planner
      let plan = try planner.plan([.video: TrackTraits(codec: "vp8")])
      return (plan.feeds[.video]?.way, plan.forced.map(\.variables), planner.keyframeInterval)
    }
    #expect(try feed(EncodingOptions(keyFrameInterval: .seconds(2))) == (.asSent, [], .seconds(2)))
    let encoded = try feed(EncodingOptions(videoBitrate: 500))
    #expect(encoded.0 == .encoded(by: "h264") && encoded.1 == [["bitrate"]] && encoded.2 == nil)
  }

  @Test func aCompositeHasTheSizeOfItsEncoding() {
    var options = CompositeOptions(file: "x.mp4", encoding: EncodingOptions(preset: .h2641080p60))
    #expect(options.size == Dimensions(width: 1920, height: 1080) && options.framerate == 60)
    options.encoding.width = 960
    #expect(options.size == Dimensions(width: 960, height: 540))
    options = CompositeOptions(file: "x.mp4")
    #expect(options.size == CompositeOptions.usualSize && options.framerate == 30)
    #expect(options.recording([:]).encoding.values.isEmpty)
  }
}
