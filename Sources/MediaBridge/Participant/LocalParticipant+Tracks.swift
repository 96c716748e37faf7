import MediaCore

extension LocalParticipant {
  /// What this process publishes, by track SID.
  public var trackPublications: [String: LocalTrackPublication] { publications.withLock { $0 } }
  /// The publications of video, sorted by SID.
  public var localVideoTracks: [LocalTrackPublication] { trackPublications.sorted(where: { $0.kind == .video }) }
  /// The publications of audio, sorted by SID.
  public var localAudioTracks: [LocalTrackPublication] { trackPublications.sorted(where: { $0.kind == .audio }) }

  /// The first publication from that source; nil where none is.
  public func getTrackPublication(source: Track.Source) -> LocalTrackPublication? {
    trackPublications.sorted(where: { $0.source == source }).first
  }

  // MARK: Publishing

  /// Sends a track into the room. It is started if it is not, and the first frame is waited for, whose size the others are
  /// told. Of a muted track that frame goes nowhere, and the device is let go of behind it, until `unmute()`.
  /// - Parameter options: nil for ``RoomOptions/defaultVideoPublishOptions``.
  /// - Throws: `permissionDenied` where the token does not let this participant publish, `noMedia` where no frame comes
  ///   (at once of a muted track whose ``BufferCapturer`` was given none), `invalidState` without a connection or where
  ///   it is published already, `missingElement`, `template` or `pipeline` where it cannot be captured or encoded,
  ///   `timedOut` where the server does not answer.
  @discardableResult
  public func publish(
    videoTrack: LocalVideoTrack, options: VideoPublishOptions? = nil
  ) async throws -> LocalTrackPublication {
    try await publish(videoTrack) { session async throws(LiveKitError) in
      let options = options ?? session.options.defaultVideoPublishOptions
      if let size = try Self.sizeOfMuted(videoTrack) {
        try await videoTrack.begin()
        return await Self.plan(for: videoTrack, of: size, options)
      }
      let first = try await Self.firstFrame(of: videoTrack)
      if let stream = CarriedStream(first) {
        let limits = await session.limits(of: options.templates)
        return PublishPlan(
          options, name: videoTrack.name, stream: stream, accepted: limits.codecs, encoder: limits.variables)
      }
      guard let frame = VideoFrame(first) else {
        throw LiveKitError(
          .template, "what is captured for \(videoTrack.name) is no video: \(first.media.caps.mediaType)")
      }
      return await Self.plan(for: videoTrack, of: frame.uprightSize, options)
    }
  }

  /// For what does not come as its source carries it.
  private static func plan(
    for track: LocalVideoTrack, of size: Dimensions, _ options: VideoPublishOptions
  ) async -> PublishPlan {
    var plan = PublishPlan(options, name: track.name, size: size, isScreen: track.source == .screenShareVideo)
    let isProcessed = track.processor != nil
    plan.reason = isProcessed ? "its frames are processed" : await track.media.reasonToDecode()
    return plan
  }

  /// Sends a track into the room. It is started if it is not.
  /// - Parameter options: nil for ``RoomOptions/defaultAudioPublishOptions``.
  /// - Throws: as ``publish(videoTrack:options:)``.
  @discardableResult
  public func publish(
    audioTrack: LocalAudioTrack, options: AudioPublishOptions? = nil
  ) async throws -> LocalTrackPublication {
    try await publish(audioTrack) { session async throws(LiveKitError) in
      let options = options ?? session.options.defaultAudioPublishOptions
      try await audioTrack.begin()
      guard await audioTrack.media.mayBeEncoded() else { return PublishPlan(options, name: audioTrack.name) }
      // What comes tells whether it is.
      _ = try? await audioTrack.media.first.value(within: .seconds(1), else: LiveKitError(.noMedia, "nothing came"))
      let limits = await session.limits(of: options.templates)
      return PublishPlan(options, name: audioTrack.name, encoder: limits.variables)
    }
  }

  /// - Parameter plan: starts the track.
  private func publish(
    _ track: any CapturedTrack, plan: (RoomSession) async throws(LiveKitError) -> PublishPlan
  ) async throws(LiveKitError) -> LocalTrackPublication {
    guard let session = session.withLock({ $0 }) else {
      throw LiveKitError(.invalidState, "the room is not connected; connect it before you publish")
    }
    guard permissions.canPublish else {
      throw LiveKitError(.permissionDenied, "the token does not allow to publish; ask for one with canPublish")
    }
    let sources = permissions.canPublishSources
    guard sources.isEmpty || sources.contains(track.source) else {
      let name = track.source.spoken(track.kind)
      throw LiveKitError(
        .permissionDenied,
        "the token does not allow to publish a \(name); ask for one with it in canPublishSources")
    }
    guard track.publisher.claim() else {
      throw LiveKitError(.invalidState, "track \(track.name) is published already; unpublish it first")
    }
    defer { track.publisher.giveBack() }
    let wasStarted = track.trackState == .started
    do throws(LiveKitError) {
      return try await session.publish(track, try await plan(session))
    } catch {
      if !wasStarted { await track.end() }
      throw error
    }
  }

  /// As long as LiveKit's clients wait for it.
  private static let frameTime = Duration.seconds(10)

  private static func firstFrame(of track: LocalVideoTrack) async throws(LiveKitError) -> CapturedMedia {
    try await track.beginWithFirst(
      within: frameTime,
      else: LiveKitError(.noMedia, "no frame of \(track.name) came within 10 s", fault: .machine),
      orCancelled: RoomSession.givenUp)
  }

  /// Nobody knows whether a program gives frames to a muted track, so none is waited for.
  /// - Returns: the size of its frames; nil of a track that is not muted, or that a template captures.
  private static func sizeOfMuted(_ track: LocalVideoTrack) throws(LiveKitError) -> Dimensions? {
    guard track.isMuted, let capturer = track.capturer else { return nil }
    if let size = capturer.size { return size }
    throw LiveKitError(
      .noMedia,
      "the size of \(track.name) is not known, since it is muted and was given no frame; give its capturer one before "
        + "you publish it, or publish it unmuted", fault: .caller)
  }

  /// Takes a track out of the room; it is stopped, too, unless `RoomOptions.stopLocalTrackOnUnpublish` says otherwise.
  public func unpublish(publication: LocalTrackPublication) async throws {
    await session.withLock { $0 }?.unpublish(publication)
  }

  /// Takes all tracks out of the room.
  public func unpublishAll() async {
    for publication in trackPublications.values { try? await unpublish(publication: publication) }
  }

  // MARK: By source

  /// Publishes a camera, or unmutes the one that is; false mutes it.
  /// - Parameters:
  ///   - captureOptions: nil for ``RoomOptions/defaultCameraCaptureOptions``.
  ///   - publishOptions: nil for ``RoomOptions/defaultVideoPublishOptions``.
  /// - Returns: the publication, nil where there is none to be muted.
  @discardableResult
  public func setCamera(
    enabled: Bool, captureOptions: CameraCaptureOptions? = nil, publishOptions: VideoPublishOptions? = nil
  ) async throws -> LocalTrackPublication? {
    try await set(.camera, enabled) { [self] room in
      let track = LocalVideoTrack.createCameraTrack(
        options: captureOptions ?? room.defaultCameraCaptureOptions, pipelineFolder: room.pipelineFolder)
      return try await publish(videoTrack: track, options: publishOptions)
    }
  }

  /// Publishes a microphone, or unmutes the one that is; false mutes it.
  /// - Parameters:
  ///   - captureOptions: nil for ``RoomOptions/defaultAudioCaptureOptions``.
  ///   - publishOptions: nil for ``RoomOptions/defaultAudioPublishOptions``.
  /// - Returns: the publication, nil where there is none to be muted.
  @discardableResult
  public func setMicrophone(
    enabled: Bool, captureOptions: AudioCaptureOptions? = nil, publishOptions: AudioPublishOptions? = nil
  ) async throws -> LocalTrackPublication? {
    try await set(.microphone, enabled) { [self] room in
      let track = LocalAudioTrack.createTrack(
        options: captureOptions ?? room.defaultAudioCaptureOptions, pipelineFolder: room.pipelineFolder)
      return try await publish(audioTrack: track, options: publishOptions)
    }
  }

  /// Publishes the screen, and with `appAudio` what is heard; false takes both out of the room.
  /// - Parameters:
  ///   - captureOptions: nil for ``RoomOptions/defaultScreenShareCaptureOptions``.
  ///   - publishOptions: nil for ``RoomOptions/defaultVideoPublishOptions``.
  /// - Returns: the publication of the screen; nil without.
  /// - Throws: as ``publish(videoTrack:options:)``; neither is published where one of them cannot be.
  @discardableResult
  public func setScreenShare(
    enabled: Bool, captureOptions: ScreenShareCaptureOptions? = nil, publishOptions: VideoPublishOptions? = nil
  ) async throws -> LocalTrackPublication? {
    try await set(.screenShareVideo, enabled) { [self] room in
      let options = captureOptions ?? room.defaultScreenShareCaptureOptions
      let track = LocalVideoTrack.createScreenShareTrack(options: options, pipelineFolder: room.pipelineFolder)
      let screen = try await publish(videoTrack: track, options: publishOptions)
      guard options.appAudio else { return screen }
      do { try await publishScreenAudio(options, room) } catch {
        try await unpublish(publication: screen)
        throw error
      }
      return screen
    }
  }

  private func publishScreenAudio(_ options: ScreenShareCaptureOptions, _ room: RoomOptions) async throws {
    let track = LocalAudioTrack.createScreenShareAudioTrack(options: options, pipelineFolder: room.pipelineFolder)
    var publishing = room.defaultAudioPublishOptions
    // Music has quiet moments, too.
    publishing.dtx = false
    try await publish(audioTrack: track, options: publishing)
  }

  private func set(
    _ source: Track.Source, _ isEnabled: Bool,
    publish: @escaping @Sendable (RoomOptions) async throws -> LocalTrackPublication
  ) async throws -> LocalTrackPublication? {
    try await inTurn(source) { [self] in
      guard let publication = getTrackPublication(source: source) else {
        return isEnabled ? try await publish(try connectedSession().options) : nil
      }
      let audio = source == .screenShareVideo ? getTrackPublication(source: .screenShareAudio) : nil
      let both = [publication, audio].compactMap(\.self)
      if isEnabled {
        for publication in both { try await publication.unmute() }
      } else if source == .screenShareVideo {
        for publication in both { try await unpublish(publication: publication) }
        return nil
      } else {
        try await publication.mute()
      }
      return publication
    }
  }

  /// One after the other, so that two calls at once do not publish two tracks of one source.
  private func inTurn<Result: Sendable>(
    _ source: Track.Source, _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let chain = changes.withLock { changes in
      let chain = changes[source] ?? TaskChain()
      changes[source] = chain
      return chain
    }
    let task = chain.add { () async -> Swift.Result<Result, any Error> in
      do { return .success(try await body()) } catch { return .failure(error) }
    }
    return try await withTaskCancellationHandler {
      try await task.value.get()
    } onCancel: {
      task.cancel()
    }
  }

  // MARK: For the session

  func insert(_ publication: LocalTrackPublication) {
    publication.participant = self
    publications.withLock { $0[publication.sid] = publication }
  }

  func remove(_ publication: LocalTrackPublication) {
    publications.withLock { $0[publication.sid] = nil }
  }

  func rename(_ publication: LocalTrackPublication, to info: TrackInfo) {
    publications.withLock { publications in
      publications[publication.sid] = nil
      publication.show(info)
      publications[info.sid] = publication
    }
  }
}
