import BridgeTesting
import Egress
import Foundation
import MediaBridge
import Testing

/// Destinations that come and go while a recording runs.
@Suite struct LateDestinationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  private func record(
    _ names: [String], _ body: (Recorder, Watcher, Collector<DestinationStatus>) async throws -> Void
  ) async throws {
    let options = RoomOptions(autoSubscribe: false, audioPlayback: .off)
    try await Watcher.run(options, codecs: ["alice": "vp8"]) { watcher in
      let recorder = Recorder(
        room: watcher.room,
        options: RecordingOptions(
          destinations: names.map { OutputDestination(path($0)) }, participant: "alice", wait: .seconds(20)))
      let told = Collector<DestinationStatus>(recorder.events) {
        if case .destinationChanged(let status) = $0 { status } else { nil }
      }
      try await recorder.start()
      try await body(recorder, watcher, told)
    }
  }

  private func grow(_ recorder: Recorder, by time: Duration) async throws {
    let length = await recorder.progress().duration
    try await eventually("\(time) more") { await recorder.progress().duration > length + time }
  }

  private struct Stream {
    /// When its first and its last packet are shown, in seconds.
    var (first, last) = (Double.infinity, -Double.infinity)
    var beginsWithKeyframe = false
  }

  /// By the codec's kind; fails for what ffmpeg cannot decode without an error.
  private func streams(_ name: String) throws -> [String: Stream] {
    // In the file's units: in steps of a frame two that come closer together, until audio and video are in step, are one.
    let decoded = try run(
      "ffmpeg", ["-v", "error", "-xerror", "-i", path(name), "-enc_time_base", "-1", "-f", "null", "-"])
    try #require(decoded.status == 0 && decoded.errors.isEmpty, "\(name): \(decoded.errors)")
    let probe = try run(
      "ffprobe", ["-v", "error", "-show_entries", "packet=codec_type,pts_time,flags", "-of", "csv=p=0", path(name)])
    return probe.output.split(separator: "\n").reduce(into: [:]) { streams, line in
      let fields = line.split(separator: ",").map(String.init)
      guard fields.count >= 3, let time = Double(fields[1]) else { return }
      var stream = streams[fields[0], default: Stream()]
      if stream.last < 0 { stream.beginsWithKeyframe = fields[2].contains("K") }
      (stream.first, stream.last) = (min(stream.first, time), max(stream.last, time))
      streams[fields[0]] = stream
    }
  }

  /// As it is sent and encoded, beside one that stores it the other way.
  @Test(arguments: [("a.mkv", "b.mp4"), ("a.mp4", "b.mkv"), ("a.mkv", "b.webm")])
  func oneThatIsAddedBeginsAtAKeyframeAndAtZero(_ first: String, _ second: String) async throws {
    try await record([first]) { recorder, _, told in
      try await grow(recorder, by: .seconds(1))
      try await recorder.add(OutputDestination(path(second)))
      try await eventually("its beginning") {
        told.values.contains { $0.location == path(second) && $0.state == .active }
      }
      try await grow(recorder, by: .seconds(1))
      let done = try await recorder.finish()
      let lengths = done.destinations.map(\.duration.seconds)
      #expect(done.destinations.map(\.state) == [.complete, .complete])
      #expect(lengths[1] > 0.5 && lengths[1] < lengths[0] - 1, "\(lengths)")
    }
    let (all, late) = (try streams(first), try streams(second))
    #expect(all.count == 2 && late.count == 2)
    for (kind, stream) in late {
      #expect(stream.first < 0.1 && stream.beginsWithKeyframe, "\(second): \(kind) begins at \(stream.first)")
      #expect(stream.last > 0.5, "\(second): \(kind) ends at \(stream.last)")
    }
    let lasts = late.values.map(\.last)
    #expect(abs(lasts[0] - lasts[1]) < 0.15, "\(second): \(lasts)")
  }

  @Test func oneThatIsRemovedIsComplete() async throws {
    try await record(["a.mkv", "b.mp4"]) { recorder, _, _ in
      try await grow(recorder, by: .seconds(1))
      let gone = try await recorder.remove(path("b.mp4"))
      #expect(gone.state == .complete && gone.duration > .seconds(1) && gone.bytes > 0)
      try await grow(recorder, by: .seconds(1))
      let error = await #expect(throws: LiveKitError.self) { try await recorder.remove(path("a.mkv")) }
      #expect(error?.message.contains("the last destination") == true)
      let done = try await recorder.finish()
      #expect(done.destinations[1].duration == gone.duration && done.duration > gone.duration + .seconds(1))
    }
    for name in ["a.mkv", "b.mp4"] {
      let lasts = try streams(name).values.map(\.last)
      #expect(lasts.count == 2 && abs(lasts[0] - lasts[1]) < 0.15, "\(name): \(lasts)")
    }
  }

  /// What cannot be is told, and nothing else changes.
  @Test func whatCannotBeAddedChangesNothing() async throws {
    try await record(["a.mkv"]) { recorder, _, _ in
      for (name, word) in [("a.mkv", "are the same"), ("b.avi", "b.avi")] {
        let error = await #expect(throws: LiveKitError.self) { try await recorder.add(OutputDestination(path(name))) }
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
      }
      await #expect(throws: LiveKitError.self) { try await recorder.remove(path("b.mkv")) }
      try await grow(recorder, by: .milliseconds(500))
      #expect(try await recorder.finish().destinations.map(\.state) == [.complete])
    }
  }
}
