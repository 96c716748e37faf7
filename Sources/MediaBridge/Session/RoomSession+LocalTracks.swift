import Foundation
import LiveKitProtocol
import MediaCore
import MediaPipelines

// What this participant publishes: announced to the server, then offered. In a new session all of it is published anew, and
// publications and tracks stay the same objects.
extension RoomSession {
  /// As long as LiveKit's clients wait for it.
  private static let answerTime = Duration.seconds(10)
  static let givenUp = LiveKitError(.cancelled, "it was given up before the track was published")

  /// Returns once the server knows the track and media can flow, or once the session is lost and the next one is to
  /// publish it anew.
  /// - Throws: `timedOut` where the server does not answer, or why nothing can be sent.
  func publish(_ track: any CapturedTrack, _ plan: PublishPlan) async throws(LiveKitError) -> LocalTrackPublication {
    track.media.log(to: services.loggers.tracks)
    handle(.publisherNeeded(forTrack: true))
    try await untilStanding(.now + state.options.connect.timeout)
    try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory(for: plan).check(plan.templates)
    }
    let generation = services.local.generation
    let response = try await announce(plan) { plan.announcement(cid: $0, track: track) }
    let outgoing = try await send(plan, cid: response.cid, generation)
    guard !Task.isCancelled else {
      await takeBack(outgoing)
      throw Self.givenUp
    }
    let publication = LocalTrackPublication(info: TrackInfo(response.track), track: track, session: self)
    let published = LocalTracks.Published(
      publication: publication, plan: plan, response: response, outgoing: outgoing)
    services.local.insert(published)
    // Whoever mutes it from now on finds it; what came before is seen below.
    track.publisher.publication = publication
    publication.show(TrackInfo(response.track))
    tellMutedMeanwhile(published)
    room.localParticipant.insert(publication)
    track.media.onEnd { [weak self, weak publication] error in
      guard let publication else { return }
      Task { await self?.captureEnded(error, publication) }
    }
    publication.send(with: outgoing)
    if let statistics = services.statistics { track.beginStatistics(statistics, isWanted: false) }
    tellPublished()
    room.tell(.localTrackPublished(publication))
    do throws(LiveKitError) {
      try await link.publisher?.untilReady(orCancelled: Self.givenUp)
      if Task.isCancelled { throw Self.givenUp }
    } catch {
      // The next session publishes it, as all that was published when the one before was lost.
      let isLost = generation != services.local.generation && !state.isEnded
      if isLost, !Task.isCancelled { return publication }
      await unpublish(publication)
      throw error
    }
    return publication
  }

  /// - Returns: once nothing is sent of it any more, whoever unpublishes it.
  func unpublish(_ publication: LocalTrackPublication) async {
    beginUnpublishing(publication)
    await services.local.ending[ObjectIdentifier(publication)]?.end.value
  }

  private func beginUnpublishing(_ publication: LocalTrackPublication) {
    guard let published = services.local.remove(publication) else { return }
    // A session that is resumed meanwhile is not to name what the server may not know any more.
    tellPublished()
    let captured = publication.captured
    captured.media.remove(publication)
    // Ahead of whoever publishes it anew: that may be while what has sent it does not stop.
    let end = options.stopLocalTrackOnUnpublish ? captured.beginEnd() : nil
    captured.publisher.publication = nil
    captured.endStatistics()
    publication.unpublished()
    room.localParticipant.remove(publication)
    let ending = Task {
      await withdraw(published)
      if let transport = link.publisher, !state.isEnded { await offer(from: transport) }
      await end?.value
      services.local.ending[ObjectIdentifier(publication)] = nil
      room.tell(.localTrackUnpublished(publication), of: self)
    }
    services.local.ending[ObjectIdentifier(publication)] = (published.plan.name, ending)
  }

  /// The end of the session is the end of everything that is published in it. One that does not stop holds up no other.
  func endLocalTracks(in ends: inout SessionEnds) {
    services.local.failWaiting(Self.notConnected)
    for published in services.local.all { beginUnpublishing(published.publication) }
    for (name, end) in services.local.ending.values { ends.begin(name) { await end.value } }
  }

  /// What is sent as it is has to be of these codecs, and nothing may be set of these variables, which are those of the
  /// encoders among templates.
  func limits(of templates: [TemplateName]) -> (codecs: Set<VideoCodec>, variables: Set<String>) {
    let variables = templates.filter { $0.kind == .encode }.compactMap { try? services.factory.variables(of: $0) }
    return (services.local.enabledCodecs, Set(variables.joined()))
  }

  // MARK: The way out

  func factory(for plan: PublishPlan) -> PipelineFactory {
    PipelineFactory(folder: options.pipelineFolder, overrides: plan.values, logger: services.loggers.pipelines)
  }

  /// - Parameter request: for an id of ours.
  func announce(
    _ plan: PublishPlan, request: (String) -> Livekit_SignalRequest
  ) async throws(LiveKitError) -> Livekit_TrackPublishedResponse {
    let cid = UUID().uuidString
    let announcement = request(cid)
    let answer = services.local.await(answerTo: announcement)
    link.client?.send(announcement)
    defer { services.local.forget(cid) }
    let silence = LiveKitError(.timedOut, "the server does not answer that \(plan.name) is published")
    return try await answer.value(within: Self.answerTime, else: silence, orCancelled: Self.givenUp)
  }

  /// - Parameter generation: in which it was announced: a session that was made since knows nothing of it.
  func send(_ plan: PublishPlan, cid: String, _ generation: Int) async throws(LiveKitError) -> OutgoingTrack {
    guard !state.isEnded else { throw Self.notConnected }
    // Not even the connection for it is made: the next session's is to be its own.
    guard generation == services.local.generation else { throw LocalTracks.lost }
    let transport = publisher()
    let outgoing = try await transport.add(plan, cid: cid, factory: factory(for: plan)) { [weak self] error in
      Task { await self?.sendingFailed(error, cid: cid) }
    }
    await offer(from: transport)
    // Who ends a session, or loses it, does not see what was not there yet.
    guard !state.isEnded, generation == services.local.generation else {
      await outgoing.stop()
      await transport.remove(outgoing)
      throw state.isEnded ? Self.notConnected : LocalTracks.lost
    }
    return outgoing
  }

  /// Of a track that was unpublished meanwhile.
  func takeBack(_ outgoing: OutgoingTrack) async {
    await outgoing.stop()
    guard let transport = link.publisher, !state.isEnded else { return }
    await transport.remove(outgoing)
    await offer(from: transport)
  }

  /// Nothing is sent of it any more when it returns.
  private func withdraw(_ published: LocalTracks.Published) async {
    for outgoing in published.allOutgoing {
      await outgoing.stop()
      await link.publisher?.remove(outgoing)
    }
  }

  /// A server takes one that it does not know for the mark of another session.
  private func tellPublished() {
    handle(.published(services.local.all.filter { !$0.isWithdrawn }.map(\.response)))
  }

  // MARK: What the server says

  func announced(_ response: Livekit_TrackPublishedResponse) { services.local.announced(response) }

  func answered(_ response: Livekit_RequestResponse) {
    guard case .addTrack(let request) = response.request else { return requests.answered(response) }
    services.local.refused(request, response)
  }

  /// Taken away by the server, or by somebody with its API. A device may take its time, for which no message waits.
  func unpublished(_ sid: String) {
    guard let publication = services.local[sid]?.publication else { return }
    publication.sendFailure = LiveKitError(
      .permissionDenied, "the server has taken it out of the room; see whether its participant may still publish",
      fault: .server)
    Task { await unpublish(publication) }
  }

  func subscribed(_ sid: String) {
    if let published = services.local[sid] { room.tell(.localTrackSubscribed(published.publication)) }
  }

  func obey(_ mute: Livekit_MuteTrackRequest) {
    let track = services.local[mute.sid]?.publication.captured
    Task { try? await track?.set(muted: mute.muted) }
  }

  // MARK: What the program says

  /// The others are told whether it is muted by now; the frames that are left go nowhere then.
  func tellMuting(of publication: LocalTrackPublication) throws(LiveKitError) {
    publication.showMuting()
    guard !state.isEnded else { throw Self.notConnected }
    guard let published = services.local[publication] else { return }
    for outgoing in published.allOutgoing { outgoing.set(muted: publication.isMuted) }
    sendMute(of: published)
    room.tell(.localMuteChanged(publication, isMuted: publication.isMuted))
  }

  /// It may have been muted, or unmuted, since it was announced.
  private func tellMutedMeanwhile(_ published: LocalTracks.Published) {
    if published.publication.isMuted != published.response.track.muted { sendMute(of: published) }
  }

  /// The others are told how large its frames are now, and the server chooses layers by it.
  func tellSize(of publication: LocalTrackPublication) {
    guard !state.isEnded, let published = services.local[publication], !published.isWithdrawn,
      let size = publication.dimensions
    else { return }
    var request = Livekit_SignalRequest()
    request.updateVideoTrack.trackSid = published.response.track.sid
    request.updateVideoTrack.width = UInt32(clamping: size.width)
    request.updateVideoTrack.height = UInt32(clamping: size.height)
    link.client?.send(request)
  }

  private func sendMute(of published: LocalTracks.Published) {
    guard !published.isWithdrawn else { return }
    var request = Livekit_SignalRequest()
    (request.mute.sid, request.mute.muted) = (published.response.track.sid, published.publication.isMuted)
    link.client?.send(request)
  }

  // MARK: When things fail

  private func captureEnded(_ error: LiveKitError?, _ publication: LocalTrackPublication) {
    if let error { logger.warning("a track is not captured", metadata: ["reason": "\(error.message)"]) }
    room.tell(.localTrackEnded(publication, error))
  }

  /// What is sent as it is cannot be decoded here, which is needed to know its level. It is sent all the same.
  func notMeasured(_ error: LiveKitError, _ publication: LocalTrackPublication) {
    logger.warning(
      "nobody knows how loud a track is, so that servers do not see who speaks",
      metadata: ["track": "\(publication.sid)", "reason": "\(error.message)"])
  }

  private func sendingFailed(_ error: LiveKitError, cid: String) {
    guard let published = services.local.all.first(where: { $0.allOutgoing.contains { $0.cid == cid } }) else { return }
    if case .sent(let backup) = published.backup, backup.cid == cid {
      return backupFailed(error, of: published, backup)
    }
    logger.warning("a track is not sent", metadata: ["reason": "\(error.message)"])
    published.publication.sendFailure = error
    room.tell(.localTrackEnded(published.publication, error))
  }

  // MARK: After a loss

  /// What was said while the connection was lost is said again; in a new session everything is published anew.
  func broughtBack(by mode: ReconnectMode) {
    tellPermission()
    guard mode == .full else {
      for request in services.local.announceAgain() { link.client?.send(request) }
      for published in services.local.all { tellSize(of: published.publication) }
      return services.local.all.forEach(sendMute)
    }
    publishAgain(allBut: [])
  }

  /// One after the other: what was begun in a session that is lost ends first, and each track is sent once.
  /// - Parameter known: what the server has still.
  func publishAgain(allBut known: Set<String>) {
    let generation = services.local.generation
    services.local.withdraw(allBut: known)
    services.local.republishing.add { await self.publishAgain(allBut: known, generation) }
  }

  private func publishAgain(allBut known: Set<String>, _ generation: Int) async {
    for publication in services.local.all.map(\.publication) {
      await publishAgain(publication, unlessIn: known, generation)
    }
  }

  private func publishAgain(
    _ publication: LocalTrackPublication, unlessIn known: Set<String>, _ generation: Int
  ) async {
    guard generation == services.local.generation, let published = services.local[publication],
      !known.contains(published.response.track.sid)
    else { return }
    publication.captured.media.remove(publication)
    publication.send(withBackup: nil)
    await withdraw(published)
    while !Task.isCancelled {
      do throws(LiveKitError) {
        try await untilStanding(.now + state.options.connect.timeout)
        return try await renew(published, generation)
      } catch {
        // Another session will have it.
        guard generation == services.local.generation, !state.isEnded else { return }
        // The same one will, once it is back.
        guard !state.isRecovering else { continue }
        logger.warning("a track is not published again", metadata: ["reason": "\(error.message)"])
        publication.sendFailure = error
        return room.tell(.localTrackEnded(publication, error))
      }
    }
  }

  private func renew(_ published: LocalTracks.Published, _ generation: Int) async throws(LiveKitError) {
    let publication = published.publication
    // It may have been taken back while the connection was awaited.
    guard generation == services.local.generation, services.local[publication] != nil else { return }
    var renewed = published
    (renewed.backup, renewed.isWithdrawn) = (.unwanted, false)
    renewed.response = try await announce(published.plan) {
      published.plan.announcement(cid: $0, track: publication.captured)
    }
    renewed.outgoing = try await send(published.plan, cid: renewed.response.cid, generation)
    guard services.local[publication] != nil else { return await takeBack(renewed.outgoing) }
    services.local.replace(renewed)
    room.localParticipant.rename(publication, to: TrackInfo(renewed.response.track))
    tellMutedMeanwhile(renewed)
    if services.local.allow(renewed.response.track.sid, as: published.response.track.sid) { tellPermission() }
    publication.send(with: renewed.outgoing)
    tellPublished()
  }
}

extension Livekit_JoinResponse {
  /// Which codecs may be published; all of them where the server does not say.
  var enabledVideoCodecs: Set<VideoCodec> {
    let names = enabledPublishCodecs.map { $0.mime.lowercased() }.filter { $0.hasPrefix("video/") }
    guard !names.isEmpty else { return Set(VideoCodec.allCases) }
    return Set(VideoCodec.allCases.filter { names.contains("video/\($0.rawValue)") })
  }
}
