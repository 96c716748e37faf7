import BridgeTesting
import DevServer
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

/// Tracks of this process, as page 002 describes them, in a room with another one that receives them.
@Suite struct LocalTrackTests {
  private struct Scene: Sendable {
    let synthetic: SyntheticRoom
    let publisher: Room
    let watcher: Room

    func remote(_ kind: Track.Kind) -> RemoteTrackPublication? {
      let alice = watcher.remoteParticipants["alice"]
      return kind == .video ? alice?.videoTracks.first : alice?.audioTracks.first
    }

    func frames() async throws -> Collector<VideoFrame> {
      let publication = try await eventually("the camera") { remote(.video).flatMap { $0.isSubscribed ? $0 : nil } }
      let track = try #require(publication.track as? RemoteVideoTrack)
      return Collector(track.frames()) { $0 }
    }
  }

  private func run(
    options: RoomOptions = RoomOptions(),
    onRequest: @escaping @Sendable (String, Livekit_SignalRequest) -> Void = { _, _ in },
    _ body: (Scene) async throws -> Void
  ) async throws {
    let synthetic = try await SyntheticRoom.start(codecs: [:], onRequest: onRequest)
    let (publisher, watcher) = (Room(roomOptions: options), Room(roomOptions: RoomOptions(adaptiveStream: false)))
    let grant = VideoGrant.publisher(room: SyntheticRoom.name)
    do {
      try await publisher.connect(url: synthetic.url, token: try SyntheticRoom.token("alice", grant))
      try await watcher.connect(url: synthetic.url, token: try SyntheticRoom.token("watcher"))
      try await body(Scene(synthetic: synthetic, publisher: publisher, watcher: watcher))
    } catch {
      await publisher.disconnect()
      await watcher.disconnect()
      await synthetic.stop()
      throw error
    }
    await publisher.disconnect()
    await watcher.disconnect()
    await synthetic.stop()
  }

  private static let small = ["width": "320", "height": "180", "framerate": "20/1"]
  private static let pattern = CameraCaptureOptions(template: "pattern", values: small)
  private static let tone = AudioCaptureOptions(template: "tone")

  @Test func aWaylandDesktopIsSeenByItsPortal() {
    func template(_ options: ScreenShareCaptureOptions) -> String { options.templateName(wayland: "wayland-0") }
    #expect(template(ScreenShareCaptureOptions()) == "screen-portal")
    #expect(template(ScreenShareCaptureOptions(display: "wayland-0")) == "screen-portal")
    #expect(template(ScreenShareCaptureOptions(display: ":1")) == "screen")
    #expect(template(ScreenShareCaptureOptions(window: 7)) == "screen")
    #expect(template(ScreenShareCaptureOptions(template: "pattern")) == "pattern")
    #expect(ScreenShareCaptureOptions().templateName(wayland: nil) == "screen")
  }

  /// The life of a camera's track, step by step.
  @Test func aCameraLivesAsThePageSays() async throws {
    try await run { scene in
      let participant = scene.publisher.localParticipant
      let track = LocalVideoTrack.createCameraTrack(options: Self.pattern)
      #expect(track.trackState == .stopped && track.sid == nil && track.name == Track.cameraName)

      let publication = try await participant.publish(videoTrack: track)
      #expect(track.trackState == .started && track.sid == publication.sid && publication.source == .camera)
      #expect(participant.isCameraEnabled() && participant.localVideoTracks.map(\.sid) == [publication.sid])
      #expect(publication.dimensions == Dimensions(width: 320, height: 180))
      #expect(track.dimensions == publication.dimensions && abs(track.aspectRatio - 16 / 9) < 0.01)

      let frames = try await scene.frames()
      try await eventually("frames") { frames.count > 10 }

      try await track.mute()
      try await eventually("the word of it") { scene.remote(.video)?.isMuted == true }
      #expect(track.isMuted && publication.isMuted && !participant.isCameraEnabled())
      let count = frames.count
      try await Task.sleep(for: .milliseconds(400))
      // What was on its way gets there.
      #expect(frames.count <= count + 6, "a muted track goes on")

      try await publication.unmute()
      let resumed = frames.count
      try await eventually("frames again") { frames.count > resumed + 10 && scene.remote(.video)?.isMuted == false }

      try await participant.unpublish(publication: publication)
      try await eventually("its end") { scene.remote(.video) == nil }
      #expect(track.trackState == .stopped && participant.localVideoTracks.isEmpty)

      // The same track, once more.
      try await participant.publish(videoTrack: track)
      let again = try await scene.frames()
      try await eventually("frames of the same track") { again.count > 5 }
    }
  }

  @Test func aProcessorIsSetAndTakenOffWhileItIsSent() async throws {
    try await run { scene in
      let cropped = try TemplateVideoProcessor(template: "crop", values: ["right": "120"])
      let track = LocalVideoTrack.createCameraTrack(options: Self.pattern, processor: cropped)
      let publication = try await scene.publisher.localParticipant.publish(videoTrack: track)
      #expect(publication.dimensions == Dimensions(width: 200, height: 180))
      let ends = Collector(scene.publisher.events) { event -> LiveKitError.Code? in
        if case .localTrackEnded(_, let error) = event { error?.code } else { nil }
      }
      let frames = try await scene.frames()
      try await eventually("cropped frames") { frames.values.last?.dimensions == Dimensions(width: 200, height: 180) }
      track.processor = nil
      try await eventually("whole frames") { frames.values.last?.dimensions == Dimensions(width: 320, height: 180) }
      track.processor = try TemplateVideoProcessor(template: "crop", values: ["right": "400"])
      try await eventually("the word of it") { ends.values == [.pipeline] }
      let count = frames.count
      try await Task.sleep(for: .milliseconds(400))
      // What was on its way gets there.
      #expect(frames.count <= count + 6, "frames that cannot be processed are sent")
    }
  }

  @Test(arguments: [VideoCodec.vp8, .vp9, .h264, .av1])
  func framesOfTheProgramsOwnArrive(in codec: VideoCodec) async throws {
    try await run { scene in
      let track = LocalVideoTrack.createBufferTrack(source: .screenShareVideo)
      let capturer = try #require(track.capturer)
      let (width, height) = (322, 178)
      let white = [UInt8](repeating: 235, count: width * height) + [UInt8](repeating: 128, count: 161 * 89 * 2)
      let feed = Task {
        while !Task.isCancelled {
          if let frame = VideoFrame(i420: white, width: width, height: height) { capturer.capture(frame) }
          try await Task.sleep(for: .milliseconds(50))
        }
      }
      defer { feed.cancel() }
      try await scene.publisher.localParticipant.publish(
        videoTrack: track, options: VideoPublishOptions(preferredCodec: codec))
      let frames = try await scene.frames()
      let frame = try await eventually("a frame") { frames.values.last }
      #expect(frame.dimensions == Dimensions(width: 322, height: 178))
      let luma = frame.buffer.withPlanes { $0[0].map { Int($0.bytes[5 * $0.stride + 300]) } ?? 0 } ?? 0
      #expect(abs(luma - 235) < 6)
    }
  }

  /// A window that is small when it is published, and is made larger.
  @Test func layersGrowWithWhatIsCaptured() async throws {
    try await run { scene in
      let track = LocalVideoTrack.createBufferTrack(source: .screenShareVideo)
      let capturer = try #require(track.capturer)
      let size = Locked(Dimensions(width: 320, height: 180))
      let feed = Task {
        while !Task.isCancelled {
          let now = size.withLock { $0 }
          let (width, height) = (Int(now.width), Int(now.height))
          let grey = [UInt8](repeating: 128, count: width * height * 3 / 2)
          if let frame = VideoFrame(i420: grey, width: width, height: height) { capturer.capture(frame) }
          try await Task.sleep(for: .milliseconds(50))
        }
      }
      defer { feed.cancel() }
      let publication = try await scene.publisher.localParticipant.publish(videoTrack: track)
      let frames = try await scene.frames()
      try await eventually("small frames") { frames.values.last?.dimensions == Dimensions(width: 320, height: 180) }
      let bitrate = try await eventually("its bitrate") { publication.sentLayers.first?.bitrate }
      let large = Dimensions(width: 960, height: 540)
      size.withLock { $0 = large }
      try await eventually("large frames") { frames.values.last?.dimensions == large }
      #expect(publication.dimensions == large && publication.sentLayers.map(\.size) == [large])
      try await eventually("the word of it") { scene.remote(.video)?.dimensions == large }
      try await eventually("a bitrate for them") { (publication.sentLayers.first?.bitrate ?? 0) > 2 * bitrate }
    }
  }

  @Test func audioOfTheProgramAndOfATemplateIsHeard() async throws {
    try await run { scene in
      try await scene.publisher.localParticipant.setMicrophone(enabled: true, captureOptions: Self.tone)
      #expect(scene.publisher.localParticipant.isMicrophoneEnabled())
      let publication = try await eventually("the tone") { scene.remote(.audio).flatMap { $0.isSubscribed ? $0 : nil } }
      let track = try #require(publication.track as? RemoteAudioTrack)
      let heard = Collector(track.pcmBuffers()) { buffer -> Float? in
        guard let samples = buffer.floatChannelData?[0] else { return nil }
        return (0..<Int(buffer.frameLength)).map { abs(samples[$0]) }.max()
      }
      try await eventually("a tone") { heard.values.contains { $0 > 0.25 && $0 < 0.35 } }
      try await scene.publisher.localParticipant.setMicrophone(enabled: false)
      try await eventually("the word of it") { scene.remote(.audio)?.isMuted == true }
    }
  }

  @Test(arguments: [48_000, 44_100]) func audioOfTheProgramsOwnArrives(at rate: Int) async throws {
    try await run { scene in
      let track = LocalAudioTrack.createBufferTrack()
      let capturer = try #require(track.capturer)
      // 10 ms of a square wave of 500 Hz each time, on the right alone.
      let wave = (0..<rate / 100).flatMap { sample -> [Float] in
        [0, (sample * 1000 / rate).isMultiple(of: 2) ? 0.25 : -0.25]
      }
      let feed = Task {
        while !Task.isCancelled {
          if let buffer = AudioPCMBuffer(floats: wave, sampleRate: rate, channels: 2) { capturer.capture(buffer) }
          try await Task.sleep(for: .milliseconds(10))
        }
      }
      defer { feed.cancel() }
      try await scene.publisher.localParticipant.publish(audioTrack: track)
      let publication = try await eventually("the audio") {
        scene.remote(.audio).flatMap { $0.isSubscribed ? $0 : nil }
      }
      let heard = Collector((try #require(publication.track as? RemoteAudioTrack)).pcmBuffers()) { buffer in
        (0..<Int(buffer.format.channelCount)).map { channel in
          (0..<Int(buffer.frameLength)).map { abs(buffer.floatChannelData?[channel][$0] ?? 0) }.max() ?? 0
        }
      }
      try await eventually("the right channel alone") {
        heard.values.contains { $0.count == 2 && $0[0] < 0.05 && $0[1] > 0.2 }
      }
    }
  }

  /// It fails at the twentieth frame each time.
  @Test func anEncoderThatFailedIsMadeAnew() async throws {
    let text = """
      # VP8 for a moment.
      appsrc name=frames caps="video/x-raw" ! videoconvert ! video/x-raw,format=I420 ! identity error-after=20
      ! vp8enc deadline=1 cpu-used=8 keyframe-max-dist=10 ! appsink name=encoded sync=false caps="video/x-vp8"
      """
    let folder = try TemporaryFolder(template: "encode/vp8", text)
    try await run(options: RoomOptions(pipelineFolder: folder.path)) { scene in
      let publication = try await scene.publisher.localParticipant.publish(
        videoTrack: .createCameraTrack(options: Self.pattern))
      let frames = try await scene.frames()
      try await eventually("more frames than one encoder makes") { frames.count > 25 }
      #expect(publication.sendFailure == nil)
    }
  }

  @Test func onlyWhoIsAllowedReceivesIt() async throws {
    try await run { scene in
      let local = scene.publisher.localParticipant
      try await local.publish(videoTrack: .createCameraTrack(options: Self.pattern))
      let seen = try await eventually("the camera") { scene.remote(.video).flatMap { $0.isSubscribed ? $0 : nil } }
      try await local.setTrackSubscriptionPermissions(allParticipantsAllowed: false)
      try await eventually("that it is not allowed") { !seen.isSubscriptionAllowed }
      let permission = ParticipantTrackPermission(participantIdentity: "watcher", allTracksAllowed: true)
      try await local.setTrackSubscriptionPermissions(allParticipantsAllowed: false, trackPermissions: [permission])
      try await eventually("that it is allowed again") { seen.isSubscriptionAllowed }
      let cameras = (local as Participant).videoTracks.map(\.sid)
      #expect(cameras == [seen.sid] && local.firstCameraVideoTrack != nil)
      #expect(scene.watcher.remoteParticipants["alice"]?.firstCameraPublication === seen)
    }
  }

  /// After a quick return as after a new session, in which the track has another SID.
  @Test(arguments: [Livekit_LeaveRequest.Action.resume, .reconnect])
  func whoIsAllowedATrackIsAfterAReturn(_ action: Livekit_LeaveRequest.Action) async throws {
    let asked = Collector<Livekit_SubscriptionPermission>()
    let note = { @Sendable (_: String, request: Livekit_SignalRequest) in
      if case .subscriptionPermission(let permission) = request.message { asked.add(permission) }
    }
    try await run(onRequest: note) { scene in
      let local = scene.publisher.localParticipant
      let publication = try await local.publish(videoTrack: .createCameraTrack(options: Self.pattern))
      let allowed = ParticipantTrackPermission(
        participantIdentity: "watcher", allTracksAllowed: false, allowedTrackSids: [publication.sid])
      try await local.setTrackSubscriptionPermissions(allParticipantsAllowed: false, trackPermissions: [allowed])
      try await eventually("the camera") { scene.remote(.video)?.isSubscribed == true }
      let before = publication.sid
      var response = Livekit_SignalResponse()
      response.leave.action = action
      scene.synthetic.server.tell(response, to: "alice")
      try await eventually("word of it again") {
        asked.count > 1 && asked.values.last?.trackPermissions.first?.trackSids == [publication.sid]
      }
      try await eventually("the camera again") { scene.remote(.video)?.sid == publication.sid }
      try await eventually("that it may be seen") { scene.remote(.video)?.isSubscribed == true }
      #expect((publication.sid == before) == (action == .resume))
    }
  }

  @Test func whatIsMutedWhileItIsAnnouncedIsMuted() async throws {
    let track = LocalAudioTrack.createTrack(options: Self.tone)
    let mute = { @Sendable (_: String, request: Livekit_SignalRequest) in
      if case .addTrack = request.message { Task { try? await track.mute() } }
    }
    try await run(onRequest: mute) { scene in
      let publication = try await scene.publisher.localParticipant.publish(audioTrack: track)
      try await eventually("the mute") { publication.isMuted && track.isMuted }
      try await track.unmute()
      try await eventually("the track") { scene.remote(.audio)?.isMuted == false }
      try await track.mute()
      try await eventually("the mute of the others") { scene.remote(.audio)?.isMuted == true }
    }
  }

  @Test func aPreviewShowsWhatIsCaptured() async throws {
    let track = LocalVideoTrack.createCameraTrack(options: Self.pattern)
    let frames = Collector<Dimensions>()
    let preview = VideoFrameHandler { frames.add($0.dimensions) }
    track.add(videoRenderer: preview)
    try await track.start()
    try await eventually("frames") { frames.count > 3 }
    try await track.stop()
    let count = frames.count
    try await Task.sleep(for: .milliseconds(200))
    #expect(frames.count <= count + 1 && frames.values.allSatisfy { $0 == Dimensions(width: 320, height: 180) })
    track.remove(videoRenderer: preview)
  }

  /// All methods may be called from any thread.
  @Test func aRendererThatComesWhileTheLastOneGoesIsShownFrames() async throws {
    let track = LocalVideoTrack.createBufferTrack()
    let capturer = try #require(track.capturer)
    try await track.start()
    let count = Locked(0)
    let (first, second) = (VideoFrameHandler { _ in }, VideoFrameHandler { _ in count.withLock { $0 += 1 } })
    for _ in 0..<300 {
      track.add(videoRenderer: first)
      let before = count.withLock { $0 }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { track.remove(videoRenderer: first) }
        group.addTask { track.add(videoRenderer: second) }
      }
      let frame = try #require(VideoFrame(i420: [UInt8](repeating: 128, count: 6), width: 2, height: 2))
      capturer.capture(frame)
      try await eventually("the frame") { count.withLock { $0 } > before }
      track.remove(videoRenderer: second)
    }
    try await track.stop()
  }

  @Test func layersAreOfTheSizesOfLiveKitsClients() async throws {
    try await run { scene in
      let options = CameraCaptureOptions(
        preferredFormat: Dimensions(width: 1280, height: 720), preferredFPS: 10, template: "pattern")
      let publication = try await scene.publisher.localParticipant.publish(
        videoTrack: .createCameraTrack(options: options))
      #expect(publication.layers.map(\.dimensions.height) == [180, 360, 720])
      let remote = try await eventually("the camera") { scene.remote(.video).flatMap { $0.isSubscribed ? $0 : nil } }
      let frames = try await scene.frames()
      for (quality, height) in [(VideoQuality.low, 180), (.high, 720), (.medium, 360)] {
        try await remote.set(videoQuality: quality)
        try await eventually("\(quality)") {
          frames.values.suffix(3).allSatisfy { $0.dimensions.height == height } && frames.count > 3
        }
      }
    }
  }

  @Test func whatIsPublishedIsCounted() async throws {
    try await run { scene in
      let size = Dimensions(width: 640, height: 360)
      let track = LocalVideoTrack.createCameraTrack(
        options: CameraCaptureOptions(preferredFormat: size, preferredFPS: 20, template: "pattern"))
      try await scene.publisher.localParticipant.publish(videoTrack: track)
      await track.set(reportStatistics: true)
      let sent = try await eventually("a second's statistics") {
        track.statistics?.outboundRtp?.first { ($0.packetsSent ?? 0) > 20 && $0.bps > 0 }
      }
      #expect(sent.kind == "video" && sent.ssrc != nil)
      let all = try await eventually("both layers") {
        track.statistics?.outboundRtp.flatMap { all in all.allSatisfy { $0.frameWidth != nil } ? all : nil }
      }
      #expect(all.map(\.rid) == ["q", "h"])
      #expect(all.map(\.frameHeight) == [180, 360])
      #expect(all.allSatisfy { $0.qualityLimitationReason == .some(.none) && ($0.targetBitrate ?? 0) > 100_000 })
      #expect(all.allSatisfy { $0.active == true && $0.pliCount != nil && $0.retransmittedPacketsSent == 0 })
    }
  }

  @Test func theBackupCodecIsCountedByItself() async throws {
    try await run { scene in
      let track = LocalVideoTrack.createCameraTrack(options: Self.pattern)
      let publication = try await scene.publisher.localParticipant.publish(
        videoTrack: track,
        options: VideoPublishOptions(
          preferredCodec: .vp9, preferredBackupCodec: .vp8, backupCodecPolicy: .simulcast))
      await track.set(reportStatistics: true)
      try await eventually("the first codec") { (track.statistics?.outboundRtp?.first?.bps ?? 0) > 0 }
      #expect(track.simulcastStatistics.isEmpty)
      scene.synthetic.server.tell(Self.wanted(["vp9", "vp8"], of: publication.sid), to: "alice")
      let other = try await eventually("the other codec") {
        track.simulcastStatistics[.vp8]?.outboundRtp?.first { $0.bps > 0 }
      }
      let first = try #require(track.statistics?.outboundRtp)
      #expect(first.count == 1 && first[0].ssrc != other.ssrc && first[0].bps > 0)
    }
  }

  private static func wanted(_ codecs: [String], of sid: String) -> Livekit_SignalResponse {
    var high = Livekit_SubscribedQuality()
    (high.quality, high.enabled) = (.high, true)
    var response = Livekit_SignalResponse()
    response.subscribedQualityUpdate.trackSid = sid
    response.subscribedQualityUpdate.subscribedCodecs = codecs.map { name in
      var codec = Livekit_SubscribedCodec()
      (codec.codec, codec.qualities) = (name, [high])
      return codec
    }
    return response
  }

  @Test func delegatesAreTold() async throws {
    try await run { scene in
      let events = Collector(scene.publisher.events) { event -> String? in
        switch event {
        case .localTrackPublished: "published"
        case .localMuteChanged(_, let isMuted): "muted \(isMuted)"
        case .localTrackUnpublished: "unpublished"
        default: nil
        }
      }
      let publication = try await scene.publisher.localParticipant.publish(
        audioTrack: .createTrack(options: Self.tone))
      try await publication.mute()
      try await publication.unmute()
      await scene.publisher.localParticipant.unpublishAll()
      try await eventually("all of it") {
        events.values == ["published", "muted true", "muted false", "unpublished"]
      }
    }
  }

  // MARK: Refusals

  @Test func whatCannotBePublishedIsSaid() async throws {
    await #expect(throws: LiveKitError.self) {
      try await Room().localParticipant.publish(videoTrack: .createCameraTrack(options: Self.pattern))
    }
    try await run { scene in
      let participant = scene.publisher.localParticipant
      let wrong = LocalVideoTrack.createCameraTrack(options: CameraCaptureOptions(device: "/dev/nothing"))
      await #expect { try await participant.publish(videoTrack: wrong) } throws: { error in
        "\(error)".contains("cannot be opened") && wrong.trackState == .stopped
      }
      let unknown = LocalVideoTrack.createCameraTrack(options: CameraCaptureOptions(template: "patern"))
      await #expect { try await participant.publish(videoTrack: unknown) } throws: {
        (($0 as? LiveKitError)?.code) == .template
      }
      let track = LocalVideoTrack.createCameraTrack(options: Self.pattern)
      try await participant.publish(videoTrack: track)
      await #expect { try await participant.publish(videoTrack: track) } throws: {
        (($0 as? LiveKitError)?.code) == .invalidState
      }
    }
  }

  /// The server comes back at its address; publication and track stay the same objects.
  @Test func whatWasPublishedIsPublishedAgain() async throws {
    let first = try await SyntheticRoom.start(codecs: [:])
    let grant = VideoGrant.publisher(room: SyntheticRoom.name)
    let publisher = Room()
    try await publisher.connect(url: first.url, token: try SyntheticRoom.token("alice", grant))
    let publication = try await publisher.localParticipant.publish(
      videoTrack: .createCameraTrack(options: Self.pattern))
    let sid = publication.sid
    await first.stop()
    let second = try await SyntheticRoom.start(codecs: [:], port: first.port)
    try await eventually("the way back") { publisher.connectionState == .connected && publication.sid != sid }
    #expect(publisher.localParticipant.trackPublications[publication.sid] === publication)
    let watcher = Room(roomOptions: RoomOptions(adaptiveStream: false))
    try await watcher.connect(url: second.url, token: try SyntheticRoom.token("watcher"))
    let frames = try await Scene(synthetic: second, publisher: publisher, watcher: watcher).frames()
    try await eventually("frames") { frames.count > 10 }
    await watcher.disconnect()
    await publisher.disconnect()
    #expect(publisher.localParticipant.trackPublications.isEmpty && publication.track?.trackState == .stopped)
    await second.stop()
  }
}
