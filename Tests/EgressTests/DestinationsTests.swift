import BridgeTesting
import Foundation
import MediaBridge
import Testing

@testable import Egress

/// One recording that goes to several places.
@Suite struct DestinationsTests {
  private static let ogg = """
    # Ogg file of Opus.
    oggmux name=mux ! filesink location=${location}
    appsrc name=audio max-buffers=1000 max-bytes=0 leaky-type=downstream caps="audio/x-opus" ! opusparse ! mux.
    """

  /// As mkv of H.264, until it has written some frames.
  private static let failing = """
    matroskamux name=mux ! filesink location=${location}
    appsrc name=video max-buffers=1000 max-bytes=0 leaky-type=downstream
      caps="video/x-h264,stream-format=avc,alignment=au"
    ! identity error-after=20 ! mux.
    """

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/output", withIntermediateDirectories: false)
    for (name, text) in [("ogg", Self.ogg), ("failing", Self.failing)] {
      try text.write(toFile: folder.path + "/output/\(name).pipeline", atomically: true, encoding: .utf8)
    }
  }

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  private func record(
    _ destinations: [OutputDestination], _ body: (Recorder, Collector<DestinationStatus>) async throws -> Void
  ) async throws {
    let options = RoomOptions(autoSubscribe: false, audioPlayback: .off, pipelineFolder: folder.path)
    try await Watcher.run(options, codecs: ["alice": "vp8"]) { watcher in
      let recorder = Recorder(
        room: watcher.room,
        options: RecordingOptions(destinations: destinations, participant: "alice", wait: .seconds(20)))
      let told = Collector<DestinationStatus>(recorder.events) {
        if case .destinationChanged(let status) = $0 { status } else { nil }
      }
      try await recorder.start()
      try await body(recorder, told)
    }
  }

  /// Packets of each kind, as ffprobe counts those that it reads without an error.
  private func streams(_ name: String) throws -> [String: Int] {
    let entries = "stream=codec_name,nb_read_packets"
    let probe = try run(
      "ffprobe", ["-v", "error", "-count_packets", "-show_entries", entries, "-of", "csv=p=0", path(name)])
    try #require(probe.errors.isEmpty, "\(name): \(probe.errors)")
    return probe.output.split(separator: "\n").reduce(into: [:]) { streams, line in
      let fields = line.split(separator: ",").map(String.init)
      streams[fields[0]] = Int(fields[1])
    }
  }

  @Test func eachHoldsWhatItTakes() async throws {
    let names = ["a.mp4", "b.mkv", "c.webm", "d.ogg"]
    try await record(names.map { OutputDestination(path($0)) }) { recorder, told in
      try await eventually("two seconds") { await recorder.progress().duration > .seconds(2) }
      let done = try await recorder.finish()
      #expect(done.destinations.map(\.location) == names.map(path))
      try await eventually("all told") { told.values.map(\.state) == [.active, .active, .active, .active] }
      #expect(done.destinations.allSatisfy { $0.state == .complete && $0.bytes > 0 && $0.failure == nil })
      #expect(
        done.destinations.map { $0.tracks.map(\.isPassthrough) } == [
          [false, false], [true, true], [true, true], [true],
        ])
      #expect(done.omissions.isEmpty)
      let lengths = done.destinations.map(\.duration.seconds)
      #expect(lengths.allSatisfy { abs($0 - lengths[0]) < 0.1 }, "\(lengths)")
    }
    let expected = [["h264", "aac"], ["vp8", "opus"], ["vp8", "opus"], ["opus"]]
    for (name, codecs) in zip(names, expected) {
      let streams = try streams(name)
      #expect(Set(streams.keys) == Set(codecs) && streams.values.allSatisfy { $0 > 40 }, "\(name): \(streams)")
    }
  }

  /// The others are whole, and what is told names the one that is not.
  @Test func oneFailsAlone() async throws {
    let destinations = [
      OutputDestination(path("a.mp4")), OutputDestination(path("b"), output: "failing", values: ["bitrate": "300"]),
      OutputDestination(path("c.mkv")),
    ]
    try await record(destinations) { recorder, told in
      try await eventually("its failure") { told.values.contains { $0.state == .failed } }
      try await eventually("the end of its encoder") { await recorder.run?.job.encoders.count == 2 }
      let failed = try #require(told.values.last)
      #expect(failed.location == path("b") && failed.failure?.message.contains(path("b")) == true)
      #expect(await recorder.failure == nil)
      let length = await recorder.progress().duration
      try await eventually("a second more") { await recorder.progress().duration > length + .seconds(1) }
      let error = await #expect(throws: LiveKitError.self) { try await recorder.finish() }
      #expect(error?.message.contains(path("b")) == true && error?.message.contains(path("a.mp4")) == false)
      let done = await recorder.progress()
      #expect(done.destinations.map(\.state) == [.complete, .failed, .complete])
      #expect(done.destinations[1].duration < length + .milliseconds(500))
      #expect(done.destinations[0].duration > length + .seconds(1))
    }
    #expect(try streams("a.mp4").count == 2 && streams("c.mkv").count == 2)
  }

  @Test func whenAllHaveFailedTheRecordingHas() async throws {
    let destinations = ["a", "b"].map { OutputDestination(path($0), output: "failing") }
    try await record(destinations) { recorder, _ in
      try await eventually("the failure") { await recorder.failure != nil }
      let error = await #expect(throws: LiveKitError.self) { try await recorder.finish() }
      for name in ["a", "b"] { #expect(error?.message.contains(path(name)) == true) }
    }
  }

  private func refusal(_ destinations: [OutputDestination], _ change: (inout RecordingOptions) -> Void = { _ in }) async
    -> String
  {
    var options = RecordingOptions(destinations: destinations)
    change(&options)
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off, pipelineFolder: folder.path))
    let recorder = Recorder(room: room, options: options)
    let error = await #expect(throws: LiveKitError.self) { try await recorder.prepare() }
    _ = try? await recorder.finish()
    return error?.message ?? ""
  }

  @Test func aMistakeInOneIsToldBeforeAnythingStarts() async throws {
    let good = OutputDestination(path("a.mkv"))
    #expect(await refusal([]).contains("destination"))
    #expect(await refusal([good, OutputDestination(path("b.avi"))]).contains("b.avi"))
    #expect(await refusal([good, OutputDestination("/proc/b.mkv")]).contains("/proc/b.mkv"))
    let wrong = await refusal([good, OutputDestination(path("b.mp4"), values: ["widht": "640"])])
    #expect(wrong.contains("b.mp4") && wrong.contains("'width'"))
    #expect(
      await refusal([good, OutputDestination(path("d.ogg"))]) { $0.kinds = [.video] }.contains(
        "d.ogg: output/ogg takes no video"))
    #expect(!FileManager.default.fileExists(atPath: path("a.mkv")), "what was made for it is gone")
  }

  /// By whatever name.
  @Test func twoCannotWriteIntoOneFile() async throws {
    try FileManager.default.createSymbolicLink(atPath: path("link.mkv"), withDestinationPath: path("a.mkv"))
    for second in [path("a.mkv"), path("./a.mkv"), path("link.mkv")] {
      #expect(await refusal([OutputDestination(path("a.mkv")), OutputDestination(second)]).contains("are the same"))
    }
    let address = OutputDestination("udp://127.0.0.1:5000", output: "mkv")
    #expect(await refusal([address, address]).contains("are the same"))
  }

  /// What is set for all is for those that have it.
  @Test func valuesAreForThoseThatHaveThem() async throws {
    let both = [OutputDestination(path("a.mp4")), OutputDestination(path("d.ogg"))]
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off, pipelineFolder: folder.path))
    let recorder = Recorder(
      room: room, options: RecordingOptions(destinations: both, encode: ["h264"], values: ["bitrate": "500"]))
    try await recorder.prepare()
    _ = try await recorder.finish()
    #expect(await refusal(both) { $0.values = ["cpu-used": "1"] }.contains("output/ogg"))
    #expect(await refusal([both[1]]) { $0.encode = ["h264"] }.contains("output/ogg does not take"))
  }

  /// The camera is subscribed to while a destination has it.
  @Test func aKindThatOnlyALateOneTakesComesAndGoesWithIt() async throws {
    try await record([OutputDestination(path("d.ogg"))]) { recorder, told in
      let camera = await recorder.room.remoteParticipants["alice"]?.videoTracks.first
      #expect(camera?.isSubscribed == false)
      try await recorder.add(OutputDestination(path("b.mkv")))
      try await eventually("its frames") {
        await recorder.progress().destinations[1].tracks.contains { $0.kind == .video && $0.buffers > 20 }
      }
      #expect(try await recorder.remove(path("b.mkv")).state == .complete)
      try await eventually("the end of the subscription") { camera?.isSubscribed == false }
      #expect(try await recorder.finish().omissions.isEmpty)
    }
    #expect(try Set(streams("b.mkv").keys) == ["h264", "opus"] && streams("d.ogg").count == 1)
  }

  @Test func oneThatHasNotBegunIsNotRemoved() async throws {
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off, pipelineFolder: folder.path))
    let recorder = Recorder(room: room, options: RecordingOptions(file: path("a.mkv")))
    try await recorder.prepare()
    let early = await #expect(throws: LiveKitError.self) { try await recorder.remove(path("a.mkv")) }
    #expect(early?.code == .invalidState && early?.message.contains("a.mkv has not begun") == true)
    let unknown = await #expect(throws: LiveKitError.self) { try await recorder.remove(path("b.mkv")) }
    #expect(unknown?.message == "nothing is written to \(path("b.mkv"))")
    _ = try? await recorder.finish()
  }

  /// Of what is known before the room is joined, and of what is known only then; in folders that are made.
  @Test func fileNamesTakePlaceholders() async throws {
    let names = ["{room_name}/{publisher_identity}-{utc}.mkv", "{time}/{track_type}-{track_source}-{track_id}.ogg"]
    try await record(names.map { OutputDestination(path($0)) }) { recorder, _ in
      try await eventually("half a second") { await recorder.progress().duration > .milliseconds(500) }
      let files = try await recorder.finish().destinations.map(\.location)
      #expect(files.allSatisfy(FileManager.default.fileExists))
      let shapes = [#//[^/{]+/alice-[0-9]{17}\.mkv$/#, #//[0-9-]{10}T[0-9]{6}/audio-microphone-TR_\w+\.ogg$/#]
      for (file, shape) in zip(files, shapes) { #expect(try shape.firstMatch(in: file) != nil, "\(file)") }
    }
  }

  @Test func whatFillsNoNameIsToldBeforeAnythingStarts() async {
    let good = OutputDestination(path("a.mkv"))
    for (name, word) in [
      ("{rom_name}.mkv", "{room_name}"), ("{time.mkv", "without its }"), ("{track_id}.mkv", "one track"),
    ] {
      let message = await refusal([good, OutputDestination(path(name))])
      #expect(message.contains(name) && message.contains(word), "\(message)")
    }
  }

  @Test func whatAFileHoldsIsReplacedOnlyWhereThatIsWanted() async throws {
    try "yesterday".write(toFile: path("a.mkv"), atomically: false, encoding: .utf8)
    let message = await refusal([OutputDestination(path("a.mkv"))]) { $0.replacesFiles = false }
    #expect(message.contains("exists already"))
    #expect(try String(contentsOfFile: path("a.mkv"), encoding: .utf8) == "yesterday")
  }
}
