import MediaCore

extension LocalParticipant {
  /// What this process publishes, by track SID.
  public var trackPublications: [String: LocalTrackPublication] { publications.withLock { $0 } }
  /// The publications of video, sorted by SID.
  public var localVideoTracks: [LocalTrackPublication] { sorted { $0.kind == .video } }
  /// The publications of audio, sorted by SID.
  public var localAudioTracks: [LocalTrackPublication] { sorted { $0.kind == .audio } }

  private func sorted(_ isWanted: (LocalTrackPublication) -> Bool) -> [LocalTrackPublication] {
    trackPublications.values.filter(isWanted).sorted { $0.sid < $1.sid }
  }

  /// The first publication from that source; nil where none is.
  public func getTrackPublication(source: Track.Source) -> LocalTrackPublication? {
    sorted { $0.source == source }.first
  }

  /// Whether a camera is published and not muted.
  public func isCameraEnabled() -> Bool { isEnabled(.camera) }
  /// Whether a microphone is published and not muted.
  public func isMicrophoneEnabled() -> Bool { isEnabled(.microphone) }
  /// Whether a screen is published and not muted.
  public func isScreenShareEnabled() -> Bool { isEnabled(.screenShareVideo) }

  private func isEnabled(_ source: Track.Source) -> Bool { getTrackPublication(source: source)?.isMuted == false }

  // MARK: Publishing

  /// Sends a track into the room. It is started if it is not, and the first frame is waited for, whose size the others are
  /// told.
  /// - Throws: `permissionDenied` where the token does not let this participant publish, `noMedia` where no frame comes,
  ///   `invalidState` without a connection or where it is published already, `missingElement`, `template` or `pipeline` where
  ///   it cannot be captured or encoded, `timedOut` where the server does not answer.
  @discardableResult
  public func publish(
    videoTrack: LocalVideoTrack, options: VideoPublishOptions = VideoPublishOptions()
  ) async throws -> LocalTrackPublication {
    try await publish(videoTrack) { () async throws(LiveKitError) in
      let frame = try await Self.firstFrame(of: videoTrack)
      return PublishPlan(options, name: videoTrack.name, size: frame)
    }
  }

  /// Sends a track into the room. It is started if it is not.
  /// - Throws: as ``publish(videoTrack:options:)``.
  @discardableResult
  public func publish(
    audioTrack: LocalAudioTrack, options: AudioPublishOptions = AudioPublishOptions()
  ) async throws -> LocalTrackPublication {
    try await publish(audioTrack) { () async throws(LiveKitError) in PublishPlan(options, name: audioTrack.name) }
  }

  private func publish(
    _ track: any CapturedTrack, plan: () async throws(LiveKitError) -> PublishPlan
  ) async throws(LiveKitError) -> LocalTrackPublication {
    guard let session = session.withLock({ $0 }) else {
      throw LiveKitError(.invalidState, "the room is not connected; connect it before you publish")
    }
    guard permissions.canPublish else {
      throw LiveKitError(.permissionDenied, "the token does not allow to publish; ask for one with canPublish")
    }
    guard track.publisher.publication == nil else {
      throw LiveKitError(.invalidState, "track \(track.name) is published already; unpublish it first")
    }
    let wasStarted = track.trackState == .started
    do throws(LiveKitError) {
      try await track.begin()
      return try await session.publish(track, try await plan())
    } catch {
      if !wasStarted { await track.end() }
      throw error
    }
  }

  /// As long as LiveKit's clients wait for it.
  private static let frameTime = Duration.seconds(10)

  /// The upright size of what is captured.
  private static func firstFrame(of track: LocalVideoTrack) async throws(LiveKitError) -> Dimensions {
    let captured = try await track.media.first.value(
      within: frameTime,
      else: LiveKitError(.noMedia, "no frame of \(track.name) came within 10 s", fault: .machine))
    guard let frame = VideoFrame(captured) else {
      throw LiveKitError(
        .template, "what is captured for \(track.name) is no video: \(captured.media.caps.mediaType)")
    }
    return frame.uprightSize
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
  /// - Returns: the publication, nil where there is none to be muted.
  @discardableResult
  public func setCamera(
    enabled: Bool, captureOptions: CameraCaptureOptions = CameraCaptureOptions(),
    publishOptions: VideoPublishOptions = VideoPublishOptions()
  ) async throws -> LocalTrackPublication? {
    try await set(.camera, enabled) {
      try await publish(videoTrack: .createCameraTrack(options: captureOptions), options: publishOptions)
    }
  }

  /// Publishes a microphone, or unmutes the one that is; false mutes it.
  /// - Returns: the publication, nil where there is none to be muted.
  @discardableResult
  public func setMicrophone(
    enabled: Bool, captureOptions: AudioCaptureOptions = AudioCaptureOptions(),
    publishOptions: AudioPublishOptions = AudioPublishOptions()
  ) async throws -> LocalTrackPublication? {
    try await set(.microphone, enabled) {
      try await publish(audioTrack: .createTrack(options: captureOptions), options: publishOptions)
    }
  }

  /// Publishes the screen; false takes it out of the room.
  /// - Returns: the publication; nil without.
  @discardableResult
  public func setScreenShare(
    enabled: Bool, captureOptions: ScreenShareCaptureOptions = ScreenShareCaptureOptions(),
    publishOptions: VideoPublishOptions = VideoPublishOptions()
  ) async throws -> LocalTrackPublication? {
    if !enabled, let publication = getTrackPublication(source: .screenShareVideo) {
      try await unpublish(publication: publication)
      return nil
    }
    return try await set(.screenShareVideo, enabled) {
      try await publish(videoTrack: .createScreenShareTrack(options: captureOptions), options: publishOptions)
    }
  }

  private func set(
    _ source: Track.Source, _ isEnabled: Bool, publish: () async throws -> LocalTrackPublication
  ) async throws -> LocalTrackPublication? {
    if let publication = getTrackPublication(source: source) {
      isEnabled ? try await publication.unmute() : try await publication.mute()
      return publication
    }
    return isEnabled ? try await publish() : nil
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
