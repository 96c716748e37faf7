import BridgeTesting
import Foundation
import MediaPipelines
import PipelineTemplates
import Testing

@testable import MediaBridge

@Suite struct MediaSourceTests {
  /// As of a camera whose first keyframe comes seconds after its audio.
  @Test func videoThatIsLateIsWaitedFor() async throws {
    let text = """
      # Frames that come four seconds late, and audio.
      videotestsrc is-live=true timestamp-offset=4000000000
      ! video/x-raw,format=I420,width=160,height=90,framerate=10/1 ! appsink name=frames sync=false async=false
      audiotestsrc is-live=true ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
      ! appsink name=pcm sync=false async=false
      """
    let folder = try TemporaryFolder(template: "capture/late", text)
    let source = MediaSource(template: "late", pipelineFolder: folder.path)
    #expect(try await source.kinds() == [.audio, .video])
    #expect(source.missing.isEmpty)
    let track = source.makeAudioTrack()
    try await track.start()
    try await track.stop()
  }

  /// As of a live stream whose microphone is muted.
  @Test func aSourceIsBackOnceSomethingComesOfIt() async throws {
    let text = """
      # Frames, and audio of which nothing comes.
      videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=90,framerate=10/1
      ! appsink name=frames sync=false async=false
      audiotestsrc is-live=true ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
      ! valve drop=true ! appsink name=pcm sync=false async=false
      """
    let folder = try TemporaryFolder(template: "capture/muted", text)
    let source = MediaSource(template: "muted", pipelineFolder: folder.path)
    let (video, audio) = (source.makeVideoTrack(), source.makeAudioTrack())
    try await video.start()
    try await audio.start()
    try await source.restart(within: .seconds(15))
    try await video.stop()
    try await audio.stop()
  }

  /// As of a caller who hangs up at once: a demuxer that knows no stream yet lets the end of its source be lost.
  @Test func aStreamOfWhichNothingIsKnownEndsWithItsSource() async throws {
    let text = """
      # What a demuxer finds in a file that goes by once.
      filesrc location=${location} ! queue ! decodebin name=source
      source. ! video/x-raw ! videoconvert ! video/x-raw,format=I420 ! appsink name=frames sync=false async=false
      """
    let folder = try TemporaryFolder(template: "capture/cut", text)
    let file = "\(folder.path)/cut.ts"
    // Packets of MPEG-TS that hold nothing.
    let packet: [UInt8] = [0x47, 0x1f, 0xff, 0x10] + [UInt8](repeating: 0xff, count: 184)
    try Data((0..<400).flatMap { _ in packet }).write(to: URL(fileURLWithPath: file))
    let opened = Collector<String>()
    func error(of location: String) async -> LiveKitError? {
      let source = MediaSource(template: "cut", values: ["location": location], pipelineFolder: folder.path)
      return await #expect(throws: LiveKitError.self) {
        _ = try await source.kinds(within: .seconds(60)) { opened.add(location) }
      }
    }
    #expect(await error(of: file)?.message == "there is neither video nor audio in it")
    #expect(await error(of: "/no/such/file.ts")?.code == .pipeline)
    #expect(opened.values == [file])
  }

  @Test func mediaSaysByWhichPipelineItWasCaptured() async throws {
    let capture = TemplateCapture(template: "pattern", values: ["width": "160", "height": "90"], folder: nil)
    let (output, runs) = (capture.output(.video), Collector<Int>())
    try await output.start(CaptureHandlers(media: { runs.add($0.run) }, end: { _ in }))
    try await eventually("frames") { runs.count > 0 }
    try await capture.restart(within: .seconds(15))
    try await eventually("frames of another pipeline") { Set(runs.values).count == 2 }
    #expect(runs.values == runs.values.sorted())
    await output.stop()
  }

  @Test func aValueThatItsTemplateDoesNotTakeIsFoundBeforeItIsOpened() throws {
    let wrong = MediaSource(template: "pattern", values: ["width": "many"])
    let refusal = #expect(throws: LiveKitError.self) { try wrong.check() }
    #expect(refusal?.message.contains("'many' is no value for `width`") == true)
    try MediaSource(template: "pattern", values: ["width": "320"]).check()
    try MediaSource(location: "/no/such/file.mp4").check()
  }

  @Test(arguments: [
    ("rtsp://camera/stream", "rtsp"), ("RTSPS://camera/stream", "rtsp"), ("rtspt://camera/stream", "rtsp"),
    ("srt://host:9000", "srt"), ("rtmp://host/app/key", "file"), ("https://host/clip.mp4", "file"),
    ("/media/rtsp/clip.mp4", "file"), ("rtsp.mp4", "file"),
  ])
  func anAddressHasTheTemplateOfItsScheme(location: String, template: String) {
    #expect(MediaSource.template(of: location) == template)
    #expect(MediaSource(location: location).template == template)
  }

  /// What the element inside of uridecodebin has by itself is 2 s, and UDP first.
  @Test func aCameraIsSeenSoonAndThroughNAT() throws {
    let factory = PipelineFactory(folder: nil, overrides: ["latency": "80"])
    let filled = try factory.fill(.capture, "rtsp", values: ["location": "rtsp://camera/stream"])
    #expect(filled.property(of: "source", from: "latency")?.value == "80")
    #expect(filled.property(of: "source", from: "protocols")?.value == "tcp")
    let usual = try factory.template(.capture, "rtsp").variables.first { $0.name == "latency" }
    #expect(usual?.defaultValue == "200")
  }

  @Test(arguments: [
    ("latency", "soon"), ("latency", "-1"), ("protocols", "pigeon"), ("protocols", "tcp,udp"), ("protocols", "tcp+"),
  ])
  func aValueThatGStreamerWouldPassOverIsFound(name: String, value: String) {
    let refusal = #expect(throws: LiveKitError.self) {
      try MediaSource(location: "rtsp://camera/stream", values: [name: value]).check()
    }
    #expect(refusal?.code == .invalidParameter)
    #expect(refusal?.message.contains("'\(value)' is no value for `\(name)`") == true)
  }

  @Test(arguments: [("latency", "0"), ("latency", "2000"), ("protocols", "udp"), ("protocols", "udp+udp-mcast+tcp")])
  func whatRTSPTakesIsNoMistake(name: String, value: String) throws {
    try MediaSource(location: "rtsp://camera/stream", values: [name: value]).check()
    try MediaSource(location: "rtspu://camera/stream").check()
  }

  /// Those that its template does not have are for others.
  @Test func aValueOfAnotherTemplateIsNoMistake() throws {
    let folder = try TemporaryFolder(template: "capture/own", "# Frames.\nvideotestsrc ! appsink name=frames\n")
    try MediaSource(template: "own", values: ["display": ":9"], pipelineFolder: folder.path).check()
  }
}
