import LiveKitProtocol
import MediaCore
import SignalTransport

/// How far the room is with bringing its connection back.
struct Reconnection {
  var mode: ReconnectMode
  /// What the lost connection left to its successor.
  var succession = SignalSuccession()
  /// The server has said that the session goes on.
  var isResumed = false
  /// How the new session, or the one that went on, has failed before anybody was told that it stands.
  var lateFailure: SessionFailure?
  /// Whose subscription the program has changed meanwhile.
  var changed: [RemoteTrackPublication] = []
  let task: Task<Void, Never>
}

// A connection that is lost is brought back.
extension RoomEngine {
  /// How long the media of a session that goes on may take to find another way.
  private static let restartLimit = Duration.seconds(10)
  /// How long the tracks of a new session may take to come back.
  private static let returnTime = Duration.seconds(10)
  /// A connection that stood for so long counts as a good one.
  private static let steadiness = Duration.seconds(10)

  /// The session, or the attempt to make one, has failed.
  func failed(_ failure: SessionFailure) async {
    guard !isOver else { return }
    guard room.connectionState != .connecting, let remedy = failure.remedy else {
      return await end(with: failure.error)
    }
    guard reconnection != nil else { return await begin(remedy, because: failure.error) }
    if case .success? = attempt.current { reconnection?.lateFailure = failure }
    attempt.settle(.failure(failure))
  }

  private func begin(_ mode: ReconnectMode, because error: LiveKitError) async {
    guard let access, access.options.reconnectAttempts > 0 else { return await end(with: error) }
    // What is lost again and again is brought back more and more slowly.
    if let stood = lastReturn, MediaTime.now - stood > Self.steadiness { losses = 0 }
    logger.debug("reconnecting", metadata: ["mode": "\(mode.rawValue)", "reason": "\(error.message)"])
    returnLimit?.cancel()
    room.change(to: .reconnecting, of: self)
    room.tell(.reconnecting(mode))
    let delays = ReconnectDelays(access.options, from: losses)
    losses += 1
    reconnection = Reconnection(mode: mode, task: Task { await self.bringBack(delays, error) })
  }

  func endReconnecting() {
    reconnection?.task.cancel()
    reconnection = nil
    returnLimit?.cancel()
  }

  private func bringBack(_ delays: ReconnectDelays, _ cause: LiveKitError) async {
    var failure = SessionFailure(cause, remedy: nil)
    var isPressing = false
    var delays = delays
    while let delay = delays.next() {
      if !isPressing { try? await Task.sleep(for: delay) }
      guard !Task.isCancelled, let mode = reconnection?.mode else { return }
      do throws(SessionFailure) {
        try await mode == .quick ? resume() : joinAnew()
        guard !Task.isCancelled else { return }
        guard let lateFailure = takeLateFailure() else { return await broughtBack(mode) }
        failure = lateFailure
      } catch {
        failure = error
      }
      guard !Task.isCancelled else { return }
      logger.debug("not reconnected", metadata: ["mode": "\(mode.rawValue)", "reason": "\(failure.error.message)"])
      guard let remedy = failure.remedy else { break }
      isPressing = remedy == .full && mode == .quick
      if isPressing { change(to: .full) }
    }
    // Otherwise ending would cancel what ends.
    reconnection = nil
    await end(
      with: LiveKitError(
        failure.error.code,
        "the connection was lost and could not be brought back: \(failure.error.message)"))
  }

  private func takeLateFailure() -> SessionFailure? {
    defer { reconnection?.lateFailure = nil }
    guard isMediaConnected else {
      return SessionFailure(LiveKitError(.disconnected, "the media connection was lost again"), remedy: .quick)
    }
    return reconnection?.lateFailure
  }

  /// What a session could not do another one may; never the other way round.
  private func change(to mode: ReconnectMode) {
    reconnection?.mode = mode
    room.tell(.reconnecting(mode))
  }

  private func resume() async throws(SessionFailure) {
    reconnection?.isResumed = false
    await retireSignal()
    guard let succession = reconnection?.succession else { throw SessionFailure.givenUp }
    try await openSignal(resuming: succession)
    try await awaitAttempt(
      within: Self.restartLimit, "the server went on with the session but its media did not come back")
  }

  /// Closes the signalling connection, and keeps what it leaves to the next one.
  private func retireSignal() async {
    guard let earlier = takeSignal() else { return }
    let successor = earlier.successor
    reconnection?.succession = successor
    if let token = successor.refreshedToken { access?.token = token }
    await drop(nil, earlier)
  }

  private func joinAnew() async throws(SessionFailure) {
    interruptTracks()
    await retireSignal()
    await dropSession()
    try await join()
  }

  /// The media of what is subscribed has ended and is to come again in another session.
  private func interruptTracks() {
    for participant in room.remoteParticipants.values {
      for publication in participant.trackPublications.values {
        publication.subscription.withLock { $0.isAbsent = true }
        guard let track = publication.track else { continue }
        publication.subscription.withLock { $0.isInterrupted = true }
        settings.end(publication.sid)
        if publication.subscription.withLock({ $0.isExpected }) { noteLoss(of: track, publication, by: participant) }
      }
    }
  }

  private func broughtBack(_ mode: ReconnectMode) async {
    let changed = reconnection?.changed ?? []
    (reconnection, lastReturn) = (nil, .now)
    logger.debug("reconnected", metadata: ["mode": "\(mode.rawValue)"])
    room.change(to: .connected, of: self)
    room.tell(.reconnected(mode))
    // What was told last may have been lost with the connection; a new session begins with all of it.
    if mode == .quick { tellSettingsAgain() }
    // If it fails there is another loss to mend, and all is told again.
    for publication in changed where !publication.isAbsent { try? await tellSubscription(of: publication) }
    giveUpLater()
  }

  /// What does not come back in a new session is not waited for much longer.
  private func giveUpLater() {
    guard publications.contains(where: { $0.isInterrupted || isAwaited($0) }) else { return }
    returnLimit = Task { [weak self] in
      try? await Task.sleep(for: Self.returnTime)
      if !Task.isCancelled { await self?.giveUpWaiting() }
    }
  }

  private func giveUpWaiting() async {
    for participant in room.remoteParticipants.values {
      for publication in participant.trackPublications.values {
        publication.subscription.withLock { $0.isInterrupted = false }
        if publication.isAbsent { unpublish(publication.sid, of: participant) }
      }
      if absent.contains(participant.sid) { remove(participant) }
    }
    absent = []
    await matchTracks()
  }

  // MARK: In the new session

  func learnAnew(_ join: Livekit_JoinResponse) {
    update(join.room)
    learn(join.participant, of: room.localParticipant)
  }

  /// Who is still there stays who they are, with what they published. Who is not may have lost the same server, and is
  /// waited for where something of theirs was subscribed, or the program has said that it is not to be.
  func meetAgain(_ infos: [Livekit_ParticipantInfo]) async {
    let present = Set(infos.map(\.identity))
    for participant in room.remoteParticipants.values {
      // Who falls silent meanwhile is told of to nobody.
      stopSpeaking(participant)
      guard !present.contains(participant.identity ?? "") else { continue }
      if isAwaited(participant) { absent.insert(participant.sid) } else { remove(participant) }
    }
    for info in infos { addOrUpdate(info, isSameStay: true) }
  }

  /// In another session a track may have another SID: it is the one of the same kind, source and name.
  func recognise(_ tracks: [TrackInfo], of participant: RemoteParticipant) {
    let published = Set(tracks.map(\.sid))
    var gone = participant.trackPublications.values.filter { publication in
      !published.contains(publication.sid) && publication.isAbsent
    }
    for info in tracks where participant.publication(sid: info.sid) == nil {
      guard let index = gone.firstIndex(where: { $0.isAlike(info) }) else { continue }
      let publication = gone.remove(at: index)
      settings.end(publication.sid)
      participant.rename(publication, to: info.sid)
    }
  }

  /// Tells the server of a new session what it does not do by itself.
  func tellIfUnusual(_ publications: [RemoteTrackPublication]) {
    let unusual = publications.filter(isUnusual)
    if !unusual.isEmpty { signal?.send(.subscription(to: unusual, isWanted: !autoSubscribe)) }
  }

  /// Whether the program wants something else than a server does by itself.
  func isUnusual(_ publication: RemoteTrackPublication) -> Bool { publication.isWanted != autoSubscribe }

  /// Whether it may still come in a new session, and would be missed as what it was in the one before.
  func isAwaited(_ publication: RemoteTrackPublication) -> Bool {
    publication.isAbsent && (publication.isInterrupted || isUnusual(publication))
  }

  func isAwaited(_ participant: RemoteParticipant) -> Bool {
    participant.trackPublications.values.contains { isAwaited($0) }
  }
}

extension RemoteTrackPublication {
  var isInterrupted: Bool { subscription.withLock { $0.isInterrupted } }
  var isWanted: Bool { subscription.withLock { $0.isWanted } }
  fileprivate var isAbsent: Bool { subscription.withLock { $0.isAbsent } }

  fileprivate func isAlike(_ info: TrackInfo) -> Bool {
    kind == info.kind && source == info.source && name == info.name
  }
}
