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
      What is published is made by the pipeline templates capture/pattern and capture/tone, and encoded in one layer: --set \
      changes them and their encoders, as in --set width=1280 --set height=720 --set frequency=880.
      """)

  @OptionGroup var access: RoomArguments
  @OptionGroup var set: AssignmentArguments<OfAll>
  @Option(help: "vp8, vp9, h264 or av1") var codec = "vp8"
  @Option(help: "How long; without it until Ctrl-C", transform: duration(of:)) var duration: Duration?
  @Option(help: "Capture template of H.264 whose frames are made once, in three layers, and sent over and over")
  var clip: String?
  @Option(help: "Capture template of Opus that is heard beside the clip, made once, too")
  var clipAudio: String?
  @Option(help: "How many participants show the clip, as IDENTITY-1 and so on; 1 by default", transform: count(of:))
  var participants = 1
  @Option(help: "Frames a second of the clip; 15 by default", transform: count(of:)) var fps: Int?
  @Option(help: "Bits a second of the clip, in one layer of 1280x720 and not in three", transform: count(of:))
  var bitrate: Int?

  func validate() throws {
    try access.checkAccess()
    try PublishedCodec.check(codec)
    guard (1...1000).contains(participants) else {
      throw ValidationError("--participants \(participants): give 1 to 1000")
    }
    guard participants == 1 || !access.hasToken else {
      throw ValidationError("--participants needs --api-key and --api-secret: a token is for one identity")
    }
    guard clip == nil || ["vp8", "h264"].contains(codec) else {
      throw ValidationError("--clip is H.264: leave out --codec")
    }
    guard clip != nil || participants == 1 else { throw ValidationError("--participants is for --clip") }
    guard clip != nil || clipAudio == nil else { throw ValidationError("--clip-audio is for --clip") }
    guard clip != nil || bitrate == nil else { throw ValidationError("--bitrate is for --clip") }
    guard clip != nil || fps == nil else {
      throw ValidationError("--fps is for --clip; --set framerate=15/1 is for the test image")
    }
    if let fps, !(1...120).contains(fps) { throw ValidationError("--fps \(fps): give 1 to 120") }
    // What encoders take is given in thousands.
    if let bitrate, !(1000...1_000_000_000).contains(bitrate) {
      throw ValidationError("--bitrate \(bitrate): give 1000 to 1000000000 bits a second")
    }
    _ = try image()
    _ = try clipValues()
  }

  func run() async throws {
    let console = access.console()
    do {
      let (url, interruption, image) = (try access.serverURL(), Interruption(), try image())
      if clip == nil { try image.check(pipelineFolder: access.pipelines) }
      let clip = try await recordedClip()
      let rooms = clip == nil ? [Room(roomOptions: access.roomOptions(autoSubscribe: false))] : []
      let audio = try await recordedAudio()
      let clips =
        clip.map { clip in (0..<participants).map { _ in ClipPublisher(clip, codec: "h264", audio: audio) } } ?? []
      try await console.join(url, interruption) {
        for (index, publisher) in clips.enumerated() {
          try await publisher.connect(url: url, token: try token(index))
        }
        for (index, room) in rooms.enumerated() {
          try await room.connect(url: url, token: try token(index), connectOptions: access.connectOptions)
          try await image.publish(by: room.localParticipant, pipelineFolder: access.pipelines)
        }
      }
      tell(console, rooms.first?.localParticipant, clip)
      try await Self.end(of: rooms + clips, interruption, or: duration)
    } catch {
      console.fail(error)
      throw ExitCode.failure
    }
  }

  private func tell(_ console: Console, _ participant: LocalParticipant?, _ clip: CaptureClip?) {
    let published = (participant?.localVideoTracks ?? []) + (participant?.localAudioTracks ?? [])
    var tracks = published.map { ($0.source, $0.codec ?? "", $0.dimensions?.description ?? "") }
    if let size = clip?.layers.last?.dimensions { tracks.append((.camera, "h264", size.description)) }
    if clip != nil, clipAudio != nil { tracks.append((.microphone, "opus", "")) }
    let names = tracks.map { source, codec, size in
      "\(source) \(VideoCodec(rawValue: codec)?.spoken ?? codec.capitalized)\(size.isEmpty ? "" : " ")\(size)"
    }
    let who = participants == 1 ? "" : ", as \(participants) participants"
    console.say("Publishing \(names.joined(separator: ", "))\(who) (Ctrl-C ends)")
    console.event(
      "publishing",
      [
        "participants": participants,
        "tracks": tracks.map { source, codec, size in
          ["source": source.description, "codec": codec, "size": size]
        },
      ])
  }

  /// Ends them at a signal, after `duration`, or when one of them has ended, which is an error.
  private static func end(
    of senders: [any Sender], _ interruption: Interruption, or duration: Duration?
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await interruption.wait(atMost: duration) }
      for sender in senders { group.addTask { try await sender.untilEnded() } }
      let first = await group.nextResult()
      group.cancelAll()
      for sender in senders { await sender.disconnect() }
      try first?.get()
    }
  }

  /// With what was set for its templates, and for those of its encoders.
  private func image() throws -> TestImage {
    var image = TestImage(codec: VideoCodec(rawValue: codec) ?? .vp8)
    guard clip == nil else { return image }
    let captures = [TestImage.imageTemplate, TestImage.toneTemplate].map { [TemplateName(.capture, $0)] }
    let values = try set.values(
      for: captures + [image.video.templates, image.audio.templates], folder: access.pipelines)
    image.image.merge(values[0]) { $1 }
    (image.tone, image.video.values, image.audio.values) = (values[1], values[2], values[3])
    return image
  }

  private func clipValues() throws -> [String: String] {
    let templates = [clip, clipAudio].compactMap { $0.map { TemplateName(.capture, $0) } }
    return templates.isEmpty ? [:] : try set.values(for: [templates], folder: access.pipelines)[0]
  }

  private func recordedClip() async throws -> CaptureClip? {
    guard let clip else { return nil }
    return try await CaptureClip.record(
      template: clip, layers: layers, rate: fps ?? 15, seconds: Self.clipSeconds, values: try clipValues(),
      pipelineFolder: access.pipelines)
  }

  private func recordedAudio() async throws -> CaptureClip? {
    guard let clipAudio else { return nil }
    return try await CaptureClip.record(
      audioTemplate: clipAudio, seconds: Self.clipSeconds, values: try clipValues(), pipelineFolder: access.pipelines)
  }

  private static let clipSeconds = 4

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

  private func token(_ index: Int) throws -> String {
    var access = access
    if participants > 1 { access.identity = "\(access.identity ?? "clip")-\(index + 1)" }
    return try access.accessToken(grant: VideoGrant.publisher)
  }
}

/// Whoever publishes.
private protocol Sender: Sendable {
  /// - Throws: why nothing can be published any more.
  func untilEnded() async throws
  func disconnect() async
}

extension ClipPublisher: Sender {}

extension Room: Sender {
  fileprivate func untilEnded() async throws {
    let events = events
    if connectionState == .disconnected { throw disconnectError ?? LiveKitError(.network, "the connection is lost") }
    for await event in events {
      if case .disconnected(let error?) = event { throw error }
    }
  }
}
