import BridgeTesting
import Foundation
import GStreamerKit
import Logging
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import MediaBridge

/// A receive template that is edited takes over while its track is shown, heard and stored.
@Suite struct ReceiveRenewalTests {
  /// What comes of a track, and the templates that it is made of.
  private struct Run {
    let folder: TemporaryFolder
    let media: TrackMedia
    let stored = Collector<MediaBuffer>()
    let decoded = Collector<MediaBuffer>()
    let failures = Collector<LiveKitError>()
    private var consumers: [MediaConsumer] = []

    init(_ media: TrackMedia, _ folder: TemporaryFolder) throws {
      (self.media, self.folder) = (media, folder)
      for (form, collector) in [(MediaForm.encoded, stored), (.raw, decoded)] {
        let failures = failures
        consumers.append(try media.consume(form, onFailure: { failures.add($0) }, onBuffer: { collector.add($0) }))
      }
    }

    func isFlowing() async throws {
      let (stored, decoded) = (self.stored.count, self.decoded.count)
      try await eventually("media in both forms") {
        self.stored.count > stored + 20 && self.decoded.count > decoded + 20
      }
    }

    func write(_ edit: (String) -> String) throws { try folder.write(media.codec, edit(shipped(media.codec))) }

    /// All of it has come, in order, and nothing twice.
    func end() async throws {
      try await isFlowing()
      for consumer in consumers { consumer.stop() }
      for buffers in [stored.values, decoded.values] {
        let times = buffers.compactMap(\.pts)
        let steps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(steps.allSatisfy { $0 > .zero && $0 < .milliseconds(70) }, "\(steps)")
      }
      #expect(failures.values.isEmpty)
    }
  }

  /// - Parameter decoder: what stands for `vp9dec` in the template with which it begins.
  private func run(
    _ codec: String, decoder: String = "vp9dec", logger: Logger? = nil, _ body: (Run) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let sent = codec == "opus" ? "vp8" : codec
    for name in [sent, "opus"] {
      try folder.write(name, shipped(name).replacingOccurrences(of: "vp9dec threads=${threads:-1}", with: decoder))
    }
    let options = RoomOptions(
      adaptiveStream: false, audioPlayback: .off, pipelineFolder: folder.path, logger: logger)
    try await Watcher.run(options, codecs: ["alice": sent]) { watcher in
      let (video, audio) = try await watcher.tracks()
      let run = try Run(try #require(codec == "opus" ? audio.incoming : video.incoming), folder)
      try await run.isFlowing()
      try await body(run)
      try await run.end()
    }
  }

  @Test(arguments: ["vp8", "opus"])
  func whatIsEditedTakesOverWithoutAFrameThatIsMissing(_ codec: String) async throws {
    try await run(codec) { run in
      let before = try #require(run.media.pipeline)
      try run.write { $0.replacingOccurrences(of: "! appsink name=encoded", with: "! identity ! appsink name=encoded") }
      #expect(try await run.media.renewTemplate()?.description == "receive/\(codec)")
      let after = try #require(run.media.pipeline)
      #expect(after !== before && after.pipeline.factories.contains("identity"))
      // Somebody else who heard of the same edit.
      #expect(try await run.media.renewTemplate()?.description == "receive/\(codec)")
      #expect(run.media.pipeline === after)
    }
  }

  /// Frames of another size come behind those before, and what is stored goes on with a keyframe.
  @Test func framesAreMadeByTheNewTemplate() async throws {
    try await run("vp8") { run in
      let before = run.decoded.values.last.flatMap(VideoFrameBuffer.init)?.width
      try run.write {
        $0.replacingOccurrences(
          of: "! appsink name=frames", with: "! videoscale ! video/x-raw,width=64,height=36 ! appsink name=frames")
      }
      let stored = run.stored.count
      #expect(try await run.media.renewTemplate() != nil)
      try await run.isFlowing()
      let sizes = run.decoded.values.compactMap(VideoFrameBuffer.init).map(\.width)
      let first = try #require(sizes.firstIndex(of: 64))
      #expect(before != 64 && sizes[first...].allSatisfy { $0 == 64 } && !sizes[..<first].contains(64))
      #expect(run.stored.values[stored...].contains { !$0.isDelta })
    }
  }

  @Test func whatMakesTheSameChangesNothing() async throws {
    try await run("vp8") { run in
      let before = run.media.pipeline
      try run.write { "# Mine.\n\($0)" }
      #expect(try await run.media.renewTemplate() == nil)
      #expect(run.media.pipeline === before)
    }
  }

  @Test(arguments: [
    ("avdec_vp8 max-threads", "avdec_vp8 max-thread", "max-thread"),
    ("rtpvp8depay", "rtpvp8depax", "rtpvp8depax"),
    ("name=frames", "name=frame", "frames"),
    // It can be built, and nothing comes of it.
    ("! appsink name=frames", "! valve drop=true ! appsink name=frames", "nothing has come of it"),
  ])
  func whatIsWrongIsToldAndAllGoesOn(_ old: String, _ new: String, _ words: String) async throws {
    try await run("vp8") { run in
      let before = run.media.pipeline
      try run.write { $0.replacingOccurrences(of: old, with: new) }
      let error = await #expect(throws: LiveKitError.self) { try await run.media.renewTemplate() }
      #expect(error?.message.contains(words) == true && error?.message.contains(run.folder.path) == true)
      #expect(run.media.pipeline === before)
    }
  }

  /// Before anything has come of the edit.
  @Test func whatIsEditedBackLeavesAllAsItWas() async throws {
    try await run("vp8") { run in
      let before = run.media.pipeline
      try run.write {
        $0.replacingOccurrences(of: "! appsink name=frames", with: "! valve drop=true ! appsink name=frames")
      }
      let renewal = Task { try await run.media.renewTemplate() }
      try await eventually("another pipeline") { run.media.nextPipeline != nil }
      try run.write { $0 }
      #expect(try await run.media.renewTemplate() == nil)
      #expect(try await renewal.value == nil)
      #expect(run.media.pipeline === before)
    }
  }

  /// FFmpeg stands in for a decoder of hardware: it needs an index as well.
  @Test func layersAreDecodedByTheBuiltInTemplateWhereTheOneThereDoesNot() async throws {
    let lines = Collector<String>()
    let decoder = "vp9parse ! avdec_vp9 max-threads=1"
    try await run("vp9", decoder: decoder, logger: Logger(keeping: lines)) { run in
      #expect(run.media.pipeline?.pipeline.factories.contains("avdec_vp9") == true)
      run.media.form.noteLayers()
      try await eventually("the template inside the program") {
        run.media.pipeline?.template.file.hasPrefix(TemplateSearchPath.Folder.builtIn.path) == true
      }
      #expect(run.media.pipeline?.pipeline.factories.contains("vp9dec") == true)
      // Whatever looks at it later finds the same, and does not tell it again.
      let newest = try await run.media.renewTemplate()
      #expect(newest?.description == "receive/vp9")
      #expect(lines.values.filter { $0.contains("spatial layers") && $0.contains(run.folder.path) }.count == 1)
    }
  }

  /// As where no keyframe comes in time; here the template that is there cannot be read for a moment.
  @Test func layersAreTriedAgain() async throws {
    let lines = Collector<String>()
    let decoder = "vp9parse ! avdec_vp9 max-threads=1"
    try await run("vp9", decoder: decoder, logger: Logger(keeping: lines)) { run in
      try run.write { _ in "# Half written.\n" }
      run.media.form.noteLayers()
      try await eventually("the failure") { lines.values.contains { $0.contains("spatial layers are not decoded") } }
      try run.write { $0.replacingOccurrences(of: "vp9dec threads=${threads:-1}", with: decoder) }
      try await eventually("the template inside the program") {
        run.media.pipeline?.template.file.hasPrefix(TemplateSearchPath.Folder.builtIn.path) == true
      }
    }
  }

  @Test func aTemplateOfOnesOwnThatDecodesLayersStays() async throws {
    try await run("vp9", decoder: "identity ! vp9dec") { run in
      let before = run.media.pipeline
      run.media.form.noteLayers()
      let renewed = try await run.media.renewTemplate()
      #expect(renewed == nil && run.media.pipeline === before)
      #expect(before?.pipeline.factories.contains("identity") == true)
    }
  }

  @Test func aTrackThatEndsEndsWhatIsToTakeOver() async throws {
    let folder = try TemporaryFolder()
    try folder.write("vp8", shipped("vp8"))
    let options = RoomOptions(adaptiveStream: false, audioPlayback: .off, pipelineFolder: folder.path)
    let renewals = Collector<TemplateName?>()
    try await Watcher.run(options, codecs: ["alice": "vp8"]) { watcher in
      let media = try #require(try await watcher.tracks().0.incoming)
      let run = try Run(media, folder)
      try await run.isFlowing()
      try run.write { $0.replacingOccurrences(of: "rtpvp8depay", with: "valve drop=true ! rtpvp8depay") }
      Task { renewals.add(try? await media.renewTemplate()) }
      try await eventually("another pipeline") { media.nextPipeline != nil }
    }
    try await eventually("its end") { renewals.count == 1 }
    #expect(renewals.values == [nil])
  }
}

private func shipped(_ codec: String) -> String {
  (try? TemplateStore(searchPath: TemplateSearchPath(folders: [.builtIn])).find(.receive, codec).text) ?? ""
}

extension TemporaryFolder {
  fileprivate func write(_ codec: String, _ text: String) throws {
    let file = URL(fileURLWithPath: "\(path)/receive/\(codec).pipeline")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }
}
