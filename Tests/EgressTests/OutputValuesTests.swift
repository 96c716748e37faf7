import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress
@testable import MediaBridge

@Suite("Values that a person sets")
struct OutputValuesTests {
  private func factory(_ values: [String: String]) -> PipelineFactory {
    PipelineFactory(folder: nil, overrides: values)
  }

  private func error(_ body: () throws(LiveKitError) -> Void) -> LiveKitError? {
    do throws(LiveKitError) {
      try body()
      return nil
    } catch { return error }
  }

  @Test func theyWinOverWhatIsDerived() throws {
    let filled = try factory(["width": "640"]).fill(.encode, "h264", values: ["width": "1280", "height": "720"])
    #expect(filled.description.contains("width=640,height=720"))
  }

  @Test func whatAnEncoderMakesIsSaid() throws {
    let video = try factory(["width": "640"]).fill(.encode, "h264", values: ["width": "1280", "height": "360"])
    let size = Dimensions(width: 640, height: 360)
    #expect(FeedLine.Form.encoded(video).made == EncodedForm(codec: "H264", dimensions: size))
    let audio = try factory([:]).fill(.encode, "aac", values: [:])
    #expect(FeedLine.Form.encoded(audio).made == EncodedForm(codec: "AAC", dimensions: nil))
    #expect(FeedLine.Form.asSent.made == nil && FeedLine.Form.raw.made == nil)
  }

  @Test func theOtherSideKeepsTheShape() {
    let size = Dimensions(width: 1280, height: 720)
    #expect(size.values(besides: [:]) == ["width": "1280", "height": "720"])
    #expect(size.values(besides: ["width": "640"])["height"] == "360")
    #expect(size.values(besides: ["height": "361"])["width"] == "640")
    #expect(size.values(besides: ["width": "nonsense"])["height"] == "720")
    #expect(size.values(besides: ["width": "1e300"])["height"] != nil)
  }

  private func plan(_ file: String, _ codec: String, _ values: [String: String]) throws -> OutputPlan {
    let planner = try OutputPlanner(Destination(location: file), factory: factory(values))
    return try planner.plan([.video: TrackTraits(codec: codec), .audio: TrackTraits(codec: "opus")])
  }

  @Test(arguments: [("x.mkv", "vp8", "h264"), ("x.webm", "vp8", "vp8"), ("x.mp4", "h264", "h264")])
  func whatOnlyAnEncodeTextHasIsEncoded(_ file: String, _ codec: String, _ encoder: String) throws {
    for values in [[:], ["queue": "9"]] {
      let plain = try plan(file, codec, values)
      #expect(plain.feeds[.video]?.way == .asSent && plain.forced.isEmpty)
    }
    let anew = try plan(file, codec, ["queue": "9", "width": "640"])
    #expect(anew.feeds[.video]?.way == .encoded(by: encoder))
    #expect(anew.forced.map(\.encoder.name) == [encoder] && anew.forced.map(\.variables) == [["width"]])
  }

  /// A decoder's threads, where nothing is decoded.
  @Test func whatHasNoEffectIsKnown() throws {
    let values = ["threads": "2", "latency": "100"]
    for (file, idle) in [("x.mkv", ["threads"]), ("x.mp4", [])] {
      let options = RecordingOptions(file: file)
      let target = try RecordingTargets(options, folder: nil).all[0]
      let tracks = [Track.Kind.video: TrackTraits(codec: "vp8")]
      let plan = try OutputPlanner(target.destination, factory: target.factory).plan(tracks)
      #expect(target.idle(values, plan, tracks).sorted() == idle)
    }
  }

  private func refusal(_ options: RecordingOptions) async -> LiveKitError? {
    do throws(LiveKitError) {
      try await Recorder(room: Room(), options: options).prepare()
      return nil
    } catch { return error }
  }

  @Test func whatNoTextHasIsRefused() async {
    for options in [
      RecordingOptions(file: "x.mp4", values: ["widht": "640"]),
      RecordingOptions(file: "x.mp4", kinds: [.audio], values: ["width": "640"]),
      RecordingOptions(file: "x.mp4", values: ["location": "y.mp4"]),
    ] {
      #expect(await refusal(options)?.code == .invalidParameter)
    }
    let nearest = await refusal(RecordingOptions(file: "x.mp4", values: ["widht": "640"]))
    #expect(nearest?.message.contains("'width'") == true)
  }

  @Test(arguments: [("preset", "nonsense"), ("width", "abc"), ("bitrate", "-5"), ("bitrate", "x ! fakesink")])
  func whatATextCannotTakeIsToldWithItsVariable(_ name: String, _ value: String) async {
    let options = RecordingOptions(file: "x.mp4", values: ["gop": "25", name: value])
    let message = await refusal(options)?.message ?? ""
    #expect(message.contains("'\(value)'") && message.contains("`\(name)`"))
    #expect(message.contains("encode/h264.pipeline:"))
  }

  /// Before anything is asked of a server, of which there is none.
  @Test func aRoomRefusesValuesThatItsTemplatesDoNotHave() async {
    for options in [
      RoomOptions(audioPlayback: .off, receiveValues: ["latancy": "1"]), RoomOptions(playbackValues: ["dealy": "1"]),
    ] {
      let error = await #expect(throws: LiveKitError.self) {
        try await Room(roomOptions: options).connect(url: "ws://127.0.0.1:9", token: "a.b.c")
      }
      #expect(error?.code == .invalidParameter)
      #expect(error?.message.contains("did you mean") == true)
    }
  }
}
