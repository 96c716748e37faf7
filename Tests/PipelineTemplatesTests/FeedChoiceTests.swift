import Testing

@testable import PipelineTemplates

/// What outputs are fed, decided without GStreamer.
@Suite struct FeedChoiceTests {
  private static let avc = "video/x-h264,stream-format=avc,alignment=au"
  private static let encoders = [
    EncoderTraits(name: "h264-fast", makes: CapsText(avc), variables: ["width", "speed"]),
    EncoderTraits(name: "h264", makes: CapsText(avc), variables: ["width", "preset"]),
    EncoderTraits(name: "vp8", makes: CapsText("video/x-vp8"), variables: ["width", "cpu-used"]),
  ]

  private func choice(_ caps: String) -> FeedChoice {
    FeedChoice(output: "output/x", accepted: CapsText(caps), encoders: Self.encoders)
  }

  private func feed(_ caps: String, _ track: TrackTraits, _ change: (inout FeedChoice) -> Void = { _ in }) throws
    -> Feed
  {
    var choice = choice(caps)
    change(&choice)
    return try choice.feed(track)
  }

  @Test(arguments: ["vp8", "vp9", "h264"]) func whatIsTakenGoesAsSent(_ codec: String) throws {
    let feed = try feed("\(Self.avc);video/x-vp8;video/x-vp9", TrackTraits(codec: codec))
    #expect(feed == Feed(.asSent, reason: "output/x takes \(codec.uppercased())"))
    #expect(try self.feed("ANY", TrackTraits(codec: codec)).way == .asSent)
  }

  @Test func anotherCodecIsEncodedIntoTheFirstThatIsTaken() throws {
    let first = try feed("\(Self.avc);video/x-vp8", TrackTraits(codec: "vp9"))
    #expect(first.description == "encoded by encode/h264: output/x takes H264, VP8, and this is VP9")
    #expect(try feed("video/x-vp8;\(Self.avc)", TrackTraits(codec: "vp9")).encoder == "vp8")
    #expect(try feed(Self.avc, TrackTraits(codec: nil)).reason == "the track's codec is not known yet")
    let mixed = try feed(Self.avc, TrackTraits(codec: nil, isMixed: true))
    #expect(mixed.encoder == "h264" && mixed.reason.hasSuffix("takes H264, and what is mixed is raw"))
    #expect(try feed("video/x-vp8", TrackTraits(codec: "av1")).encoder == "vp8")
  }

  @Test func anotherStreamFormatIsParsed() throws {
    let bytes = "video/x-h264,stream-format=(string)byte-stream,alignment={ au, nal }"
    let sent = try feed(bytes, TrackTraits(codec: "h264"))
    #expect(sent.way == .asSent && sent.parser?.hasPrefix("h264parse") == true)
    let encoded = try feed(bytes, TrackTraits(codec: "vp8"))
    #expect(encoded.encoder == "h264" && encoded.parser?.hasPrefix("h264parse") == true)
    #expect(try feed("\(bytes);\(Self.avc)", TrackTraits(codec: "h264")).parser == nil)
  }

  @Test func framesGoWhereFramesAreTaken() throws {
    let feed = try feed("video/x-raw,format=I420", TrackTraits(codec: "vp8"))
    #expect(feed == Feed(.raw, reason: "output/x takes raw frames"))
    #expect(try self.feed("video/x-vp8;video/x-raw", TrackTraits(codec: "vp8")).way == .asSent)
    #expect(try self.feed("video/x-vp8;video/x-raw", TrackTraits(codec: "vp9")).way == .raw)
  }

  @Test func whatNoContainerHoldsIsEncoded() throws {
    #expect(try feed(Self.avc, TrackTraits(codec: "h264", mayTurn: true)).reason.contains("turned"))
    #expect(try feed(Self.avc, TrackTraits(codec: "h264", hasBFrames: true)).reason.contains("another order"))
    let layers = TrackTraits(codec: "vp9", hasSpatialLayers: true)
    #expect(try feed("video/x-vp8;video/x-vp9", layers).encoder == "vp8")
    #expect(try feed("ANY", layers).reason.contains("several spatial layers"))
    #expect(try feed("video/x-vp9;video/x-raw", layers).way == .raw)
  }

  @Test func aSizeThatMayChangeDoesNotGoWhereOneIsFixed() throws {
    let fixed = Self.avc + ",width=640,height=360"
    let changing = try feed(fixed, TrackTraits(codec: "h264"))
    #expect(changing.encoder == "h264" && changing.reason == "output/x takes H264 with height 360 only")
    #expect(try feed(fixed, TrackTraits(codec: "h264", width: 640, height: 360)).way == .asSent)
    #expect(try feed(fixed, TrackTraits(codec: "h264", width: 1280, height: 720)).encoder == "h264")
    #expect(try feed(Self.avc + ",width=[16,4096]", TrackTraits(codec: "h264")).way == .asSent)
  }

  @Test func keyframesComeAsOftenAsTheyAreNeeded() throws {
    let cases: [(Double?, Double, Feed.Way)] = [
      (nil, 4, .asSent), (nil, 0.5, .encoded(by: "h264")), (2, 4, .asSent), (5, 4, .encoded(by: "h264")),
    ]
    for (promised, needed, way) in cases {
      let track = TrackTraits(codec: "h264", keyframeInterval: promised.map { .seconds($0) })
      let feed = try feed(Self.avc, track) { $0.keyframeInterval = .seconds(needed) }
      #expect(feed.way == way)
      #expect(feed.reason.contains("needs a keyframe every") == (way != .asSent))
    }
  }

  @Test func whatHasBegunInOneCodecGoesOnInIt() throws {
    let choice = choice("\(Self.avc);video/x-vp8")
    #expect(try choice.continuing("vp8").feed(TrackTraits(codec: "h264")).encoder == "vp8")
    #expect(try choice.continuing("h264").feed(TrackTraits(codec: "vp8")).encoder == "h264")
    #expect(throws: FeedChoice.Impossible.self) {
      try choice.continuing("vp9").feed(TrackTraits(codec: "vp8"))
    }
  }

  @Test func whatWasSetOrAskedForDecides() throws {
    let both = "\(Self.avc);video/x-vp8"
    let vp8 = TrackTraits(codec: "vp8")
    #expect(try feed(both, vp8) { $0.variables = ["width"] }.description.hasPrefix("encoded by encode/h264: only"))
    #expect(try feed(both, vp8) { $0.variables = ["speed"] }.encoder == "h264-fast")
    #expect(try feed(both, vp8) { $0.variables = ["cpu-used"] }.encoder == "vp8")
    #expect(try feed(both, vp8) { $0.wantedEncoder = "vp8" }.reason == "encode/vp8 was asked for")
  }

  @Test func whatCannotBeIsSaid() {
    func reason(_ caps: String, _ change: (inout FeedChoice) -> Void = { _ in }) -> String? {
      do {
        _ = try feed(caps, TrackTraits(codec: "vp8"), change)
        return nil
      } catch { return "\(error)" }
    }
    #expect(reason("video/x-av1") == "output/x takes AV1, and this is VP8, and no encode template makes AV1")
    #expect(reason(Self.avc) { $0.wantedEncoder = "vp8" } == "encode/vp8 makes VP8, and output/x takes H264")
    #expect(reason(Self.avc) { $0.variables = ["speed", "preset"] }?.contains("preset, speed") == true)
    let lacking = reason(Self.avc) { ($0.wantedEncoder, $0.variables) = ("h264", ["speed"]) }
    #expect(lacking == "encode/h264 has no variable speed")
  }

  @Test func readsCaps() throws {
    let text =
      "video/x-raw(memory:DMABuf), format=(string){ I420, \"NV12\" }, width=(int)[1,10], rate=25/1 ; audio/mpeg, mpegversion=(int)4"
    let formats = CapsText(text).formats
    #expect(formats.map(\.mediaType) == ["video/x-raw", "audio/mpeg"])
    #expect(formats[0].fields == ["format": ["I420", "NV12"], "rate": ["25/1"]])
    #expect(formats.map(\.spoken) == ["raw frames", "AAC"])
    for nonsense in ["", "ANY", "EMPTY", ";;", "{", ",=,", "(", "\"", "a{/,b=}"] { _ = CapsText(nonsense) }
    #expect(CapsText("ANY").isAny)
  }
}
