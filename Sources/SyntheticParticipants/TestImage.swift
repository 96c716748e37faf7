public import MediaBridge
import MediaPipelines
import PipelineTemplates

/// What participants of the demo and of tests publish: a moving test image with a clock, in one layer, and a tone.
public struct TestImage: Sendable {
  public var video: VideoPublishOptions
  public var audio = AudioPublishOptions(encoding: AudioEncoding(maxBitrate: 48_000), dtx: false, red: false)
  /// Values of the capture template ``imageTemplate``; without any 640x360 at 25 frames a second.
  public var image: [String: String]
  /// Values of the capture template ``toneTemplate``, such as `frequency`.
  public var tone: [String: String]

  public static let imageTemplate = "pattern"
  public static let toneTemplate = "tone"

  public init(codec: VideoCodec = .vp8, image: [String: String] = [:], tone: [String: String] = [:]) {
    // All frames that there are.
    let encoding = VideoEncoding(maxBitrate: 800_000, maxFps: 1000)
    video = VideoPublishOptions(encoding: encoding, simulcast: false, preferredCodec: codec)
    self.image = ["width": "640", "height": "360", "framerate": "25/1"].merging(image) { $1 }
    self.tone = tone
  }

  /// - Throws: for values that the capture templates cannot take.
  public func check(pipelineFolder: String? = nil) throws(LiveKitError) {
    for (template, values) in [(Self.imageTemplate, image), (Self.toneTemplate, tone)] {
      try LiveKitError.wrapping { () throws(PipelineFailure) in
        try PipelineFactory(folder: pipelineFolder, overrides: values).check([TemplateName(.capture, template)])
      }
    }
  }

  /// Publishes them as camera and microphone.
  /// - Throws: as ``LocalParticipant/publish(videoTrack:options:)``.
  public func publish(by participant: LocalParticipant, pipelineFolder: String? = nil) async throws {
    let camera = LocalVideoTrack.createCameraTrack(
      options: CameraCaptureOptions(template: Self.imageTemplate, values: image), pipelineFolder: pipelineFolder)
    let microphone = LocalAudioTrack.createTrack(
      options: AudioCaptureOptions(template: Self.toneTemplate, values: tone), pipelineFolder: pipelineFolder)
    async let published = participant.publish(videoTrack: camera, options: video)
    try await participant.publish(audioTrack: microphone, options: audio)
    _ = try await published
  }

  /// Joins as a participant that publishes them and receives nothing.
  public func join(
    url: String, token: String, pipelineFolder: String? = nil, connectOptions: ConnectOptions = ConnectOptions()
  ) async throws -> Room {
    let room = Room(
      roomOptions: RoomOptions(autoSubscribe: false, audioPlayback: .off, pipelineFolder: pipelineFolder))
    do {
      try await room.connect(url: url, token: token, connectOptions: connectOptions)
      try await publish(by: room.localParticipant, pipelineFolder: pipelineFolder)
      return room
    } catch {
      await room.disconnect()
      throw error
    }
  }
}
