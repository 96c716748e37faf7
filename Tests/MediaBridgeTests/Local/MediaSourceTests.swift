import BridgeTesting
import MediaBridge
import Testing

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

  @Test func aValueThatItsTemplateDoesNotTakeIsFoundBeforeItIsOpened() throws {
    let wrong = MediaSource(template: "pattern", values: ["width": "many"])
    let refusal = #expect(throws: LiveKitError.self) { try wrong.check() }
    #expect(refusal?.message.contains("'many' is no value for `width`") == true)
    try MediaSource(template: "pattern", values: ["width": "320"]).check()
    try MediaSource(location: "/no/such/file.mp4").check()
  }

  /// Those that its template does not have are for others.
  @Test func aValueOfAnotherTemplateIsNoMistake() throws {
    let folder = try TemporaryFolder(template: "capture/own", "# Frames.\nvideotestsrc ! appsink name=frames\n")
    try MediaSource(template: "own", values: ["display": ":9"], pipelineFolder: folder.path).check()
  }
}
