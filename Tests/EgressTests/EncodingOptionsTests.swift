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

  /// `livekit_egress.proto`, `EncodingOptionsPreset`.
  @Test func presetsAreKnownByTheNamesOfEgress() {
    #expect(
      EncodingOptionsPreset.allCases.map(\.egressName) == [
        "H264_720P_30", "H264_720P_60", "H264_1080P_30", "H264_1080P_60", "PORTRAIT_H264_720P_30",
        "PORTRAIT_H264_720P_60", "PORTRAIT_H264_1080P_30", "PORTRAIT_H264_1080P_60",
      ])
    #expect(EncodingOptionsPreset(egressName: "PORTRAIT_H264_1080P_30") == .portraitH2641080p30)
    #expect(EncodingOptionsPreset(egressName: "PASSTHROUGH") == nil)
  }

  /// The numbers of the presets, what lies between them, and what goes on as they do.
  @Test func bitratesGoBySizeAndRate() {
    for preset in EncodingOptionsPreset.allCases {
      #expect(UsualBitrate.of(preset.size, framerate: preset.framerate) == preset.videoBitrate)
    }
    func bitrate(_ width: Int32, _ height: Int32, _ rate: Int) -> Int {
      UsualBitrate.of(Dimensions(width: width, height: height), framerate: rate)
    }
    #expect(bitrate(640, 360, 30) == 1500 && bitrate(160, 90, 30) == 500)
    #expect(bitrate(1280, 720, 45) == 3750 && bitrate(3840, 2160, 60) == 12_000)
  }

  /// The template's own default is for whoever uses it by hand.
  @Test func anEncoderIsToldTheBitrateOfItsFrames() throws {
    let factory = PipelineFactory(folder: nil)
    let h264 = try factory.template(.encode, "h264")
    let size = Dimensions(width: 1920, height: 1080)
    let sent = Job.Video(codec: "vp8", size: size)
    let mixed = Job.Video(mixed: CompositeOptions(file: "x.mp4", size: size, framerate: 60))
    #expect(sent.values(for: h264, besides: [:])["bitrate"] == "4500")
    #expect(mixed.values(for: h264, besides: [:])["bitrate"] == "6000")
    #expect(sent.values(for: h264, besides: ["width": "640"])["bitrate"] == "1500", "as it is encoded")
    #expect(sent.values(for: nil, besides: [:])["bitrate"] == nil)
    #expect(Job.Video().values(for: h264, besides: [:]).isEmpty, "nothing is known of the frames")
    let filled = try PipelineFactory(folder: nil, overrides: ["bitrate": "800"]).fill(
      h264, values: sent.values(for: h264, besides: ["bitrate": "800"]))
    #expect(filled.description.contains("bitrate=800 "), "what a person sets goes before it")
  }

  /// A default that somebody has written is kept; of those that come with the program all leave it to the frames.
  @Test func anotherDefaultOfATemplateIsKept() throws {
    let video = Job.Video(codec: "vp8", size: Dimensions(width: 1920, height: 1080))
    let text = "appsrc name=frames ! x264enc bitrate=${bitrate:-8000} ! appsink name=encoded"
    let own = try Template(kind: .encode, name: "own", file: "own.pipeline", text: text)
    #expect(video.values(for: own, besides: [:])["bitrate"] == nil)
    let factory = PipelineFactory(folder: nil)
    for name in try factory.names(of: .encode) {
      let variable = try factory.template(.encode, name.name).variables.first { $0.name == "bitrate" }
      #expect(variable?.defaultValue ?? UsualBitrate.templateDefault == UsualBitrate.templateDefault, "\(name)")
    }
  }

  /// As a dry run shows it.
  @Test func theBitrateOfAMixedRoomIsKnownBefore() throws {
    let size = Dimensions(width: 1920, height: 1080)
    let feeds = try OutputFeeds.of(CompositeOptions(file: "x.mp4", size: size, framerate: 60), folder: nil)
    let h264 = try #require(feeds.first?.pipelines.first { $0.name == "encode/h264" })
    #expect(h264.text.contains("bitrate=6000") && h264.text.contains("width=1920"))
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
