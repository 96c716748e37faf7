import BridgeTesting
import Egress
import Foundation
import MediaBridge
import Testing

/// An output template of a user's own, by the library.
@Suite struct OwnOutputTests {
  private static let ogg = """
    # Ogg file of Opus.
    oggmux name=mux ! filesink location=${location}
    appsrc name=audio max-buffers=1000 max-bytes=0 leaky-type=downstream caps="audio/x-opus" ! opusparse ! mux.
    """

  private func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/output", withIntermediateDirectories: false)
    try Self.ogg.write(toFile: folder.path + "/output/ogg.pipeline", atomically: true, encoding: .utf8)
    return folder
  }

  @Test func isNamedAndRecordsWithoutVideo() async throws {
    let folder = try folder()
    let file = folder.path + "/voice"
    let options = RoomOptions(autoSubscribe: false, audioPlayback: .off, pipelineFolder: folder.path)
    try await Watcher.run(options, codecs: ["alice": "vp8"]) { watcher in
      let recorder = Recorder(
        room: watcher.room,
        options: RecordingOptions(file: file, output: "ogg", participant: "alice", wait: .seconds(20)))
      try await recorder.start()
      let publications = watcher.room.remoteParticipants["alice"]?.trackPublications.values
      #expect(publications?.filter(\.isSubscribed).map(\.kind) == [.audio])
      try await eventually("a second of audio") { await recorder.progress().duration > .seconds(1) }
      let done = try await recorder.finish()
      #expect(done.tracks.map(\.kind) == [.audio] && done.omissions.allSatisfy { !$0.wasWanted })
    }
    let probe = try run("ffprobe", ["-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", file])
    #expect(probe.output == "opus\n" && probe.errors.isEmpty)
  }

  /// Whatever its variables are called.
  @Test func oneWhoseFilesSwiftWritesIsNamedAmongThoseThatThereAre() async throws {
    let folder = try folder()
    let text = "mpegtsmux name=mux ! appsink name=segments appsrc name=audio caps=audio/mpeg ! mux."
    try text.write(toFile: folder.path + "/output/cut.pipeline", atomically: true, encoding: .utf8)
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off, pipelineFolder: folder.path))
    let error = await #expect(throws: LiveKitError.self) {
      try await Recorder(room: room, options: RecordingOptions(file: "x.avi")).prepare()
    }
    for ending in [".cut", ".ogg", ".opus", ".m3u8", ".jpeg", ".jpg", "such as hls-fmp4"] {
      #expect(error?.message.contains(ending) == true, "\(ending)")
    }
    for none in [".hls-fmp4", ".mp4-opus", ".udp", "--output"] {
      #expect(error?.message.contains(none) == false, "\(none)")
    }
  }

  @Test func whatItDoesNotTakeCannotBeAskedOfIt() async throws {
    let folder = try folder()
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off, pipelineFolder: folder.path))
    for options in [
      RecordingOptions(file: "x.ogg", sources: [.camera]), RecordingOptions(file: "x.ogg", kinds: [.video]),
      RecordingOptions(file: "x.ogg", encode: ["h264"]),
    ] {
      let error = await #expect(throws: LiveKitError.self) {
        try await Recorder(room: room, options: options).prepare()
      }
      #expect(error?.code == .invalidParameter)
      #expect(error?.message.contains("output/ogg") == true)
    }
  }
}
