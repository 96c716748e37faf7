import ArgumentParser
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaPipelines
import SyntheticParticipants

/// Synthetic participants, for the demo, tests and benchmarks.
struct PublishTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish-test", abstract: "Publish a moving test image with a clock, and a tone.",
    usage: "mediabridge publish-test [<options>]",
    discussion: """
      What is published is made by the pipeline templates capture/test-video, test-video-vp9 or test-video-h264, and \
      capture/test-audio: --set changes them, as in --set width=1280 --set height=720 --set frequency=880.
      """)

  @OptionGroup var access: RoomArguments
  @OptionGroup var set: SetArguments
  @Option(help: "vp8, vp9 or h264") var codec = "vp8"
  @Option(help: "How long; without it until Ctrl-C", transform: duration(of:)) var duration: Duration?
  @Option(help: "Capture template of H.264 whose frames are made once, in three layers, and sent over and over")
  var clip: String?
  @Option(help: "How many participants show the clip, as IDENTITY-1 and so on") var participants = 1
  @Option(help: "Frames a second of the clip") var fps = 15
  @Option(help: "Bits a second of the clip, in one layer of 1280x720 and not in three") var bitrate: Int?

  func validate() throws {
    guard ["vp8", "vp9", "h264"].contains(codec) else {
      throw ValidationError("--codec \(codec): give vp8, vp9 or h264")
    }
    guard participants > 0 else { throw ValidationError("--participants \(participants): give 1 or more") }
    guard clip == nil || codec != "vp9" else { throw ValidationError("--clip is H.264: leave out --codec") }
    guard clip != nil || participants == 1 else { throw ValidationError("--participants is for --clip") }
    guard clip != nil || bitrate == nil else { throw ValidationError("--bitrate is for --clip") }
    guard (1...120).contains(fps) else { throw ValidationError("--fps \(fps): give 1 to 120") }
    // What encoders take is given in thousands.
    if let bitrate, !(1000...1_000_000_000).contains(bitrate) {
      throw ValidationError("--bitrate \(bitrate): give 1000 to 1000000000 bits a second")
    }
    _ = try values()
  }

  func run() async throws {
    let console = access.console()
    do {
      let (url, publishers) = (try access.serverURL(), try await publishers())
      let interruption = Interruption()
      try await console.join(url, interruption) {
        for (index, publisher) in publishers.enumerated() {
          try await publisher.connect(url: url, token: try await token(index))
        }
      }
      tell(publishers, console)
      try await Self.end(of: publishers, interruption, or: duration)
    } catch {
      console.fail(error)
      throw ExitCode.failure
    }
  }

  private func tell(_ publishers: [CapturePublisher], _ console: Console) {
    let tracks = publishers.first?.captures ?? []
    let names = tracks.map { track in
      let size = track.dimensions.map { " \($0)" } ?? ""
      return "\(track.source) \(track.codec.uppercased())\(size)"
    }
    let who = publishers.count == 1 ? "" : ", as \(publishers.count) participants"
    console.say("Publishing \(names.joined(separator: ", "))\(who) (Ctrl-C ends)")
    console.event(
      "publishing",
      [
        "participants": publishers.count,
        "tracks": tracks.map {
          ["source": $0.source.description, "codec": $0.codec, "size": $0.dimensions?.description ?? ""]
        },
      ])
  }

  /// Ends them at a signal, after `duration`, or when one of them has ended, which is an error.
  private static func end(
    of publishers: [CapturePublisher], _ interruption: Interruption, or duration: Duration?
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await interruption.wait(atMost: duration) }
      for publisher in publishers { group.addTask { try await publisher.untilEnded() } }
      let first = await group.nextResult()
      group.cancelAll()
      for publisher in publishers { await publisher.disconnect() }
      try first?.get()
    }
  }

  /// For the template of the frames, and for that of the audio.
  private func values() throws -> [[String: String]] {
    let video = clip ?? CapturePublisher.syntheticTemplate(codec: codec)
    let audio = clip == nil ? [TemplateName(.capture, "test-audio")] : []
    return try set.values(for: [[TemplateName(.capture, video)], audio], folder: access.pipelines)
  }

  private func publishers() async throws -> [CapturePublisher] {
    let values = try values()
    guard let clip else {
      return [
        CapturePublisher.synthetic(
          codec: codec, values: values[0], audioValues: values[1], pipelineFolder: access.pipelines)
      ]
    }
    let recorded = try await CaptureClip.record(
      template: clip, layers: layers, rate: fps, seconds: 4, values: values[0],
      pipelineFolder: access.pipelines
    )
    return (0..<participants).map { _ in CapturePublisher.showing(recorded, codec: "h264") }
  }

  private var layers: [CaptureClip.Layer] {
    let largest = Dimensions(width: 1280, height: 720)
    if let bitrate { return [CaptureClip.Layer(dimensions: largest, bitrate: bitrate)] }
    // What LiveKit's clients send of a 720p camera.
    return [
      CaptureClip.Layer(dimensions: Dimensions(width: 320, height: 180), bitrate: 160_000),
      CaptureClip.Layer(dimensions: Dimensions(width: 640, height: 360), bitrate: 450_000),
      CaptureClip.Layer(dimensions: largest, bitrate: 1_700_000),
    ]
  }

  private func token(_ index: Int) async throws -> String {
    var access = access
    if participants > 1 { access.identity = "\(access.identity ?? "clip")-\(index + 1)" }
    return try await access.accessToken(grant: VideoGrant.publisher)
  }
}
