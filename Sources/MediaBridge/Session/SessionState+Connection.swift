import LiveKitProtocol
import MediaCore
import PeerTransport
import SignalTransport

// A session is made, stands, is lost, and is brought back.
extension SessionState {
  /// How long the media of a session that goes on may take to find another way.
  static let restartLimit = Duration.seconds(10)
  /// How long the tracks of a new session may take to come back.
  static let returnTime = Duration.seconds(10)
  /// A connection that stood for so long counts as a good one.
  static let steadiness = Duration.seconds(10)
  /// How long a server that has ended the media may take to say why.
  static let farewell = Duration.seconds(2)

  // MARK: Attempts

  /// Begins to make a session, or to resume it.
  /// - Parameter recovery: of the connection that was lost; nil for the first session.
  mutating func attempt(_ recovery: Recovery?) {
    phase = recovery.map { .recovering($0, Attempt(deadline: $0.limit)) } ?? .joining(Attempt())
    if let recovery {
      for sid in roster.sids(where: { !$0.objections.isAllowed }) { change(sid) { $0.doubtPermission() } }
      if recovery.mode == .full { interruptTracks() }
    }
    if recovery?.mode != .quick { (link, roster.denied) = (MediaLink(), []) }
    roster.list = .complete
    act(.open(recovery?.mode ?? .full, recovery?.reason ?? .unknown))
  }

  mutating func opened(at now: MediaTime) {
    changeAttempt { [limit = options.connect.timeout] attempt, recovery in
      // The transport knows better what is wrong, so it is given its time first.
      let deadline = now + (recovery?.mode == .quick ? Self.restartLimit : limit + .seconds(1))
      attempt.deadline = min(deadline, recovery?.limit ?? deadline)
    }
  }

  private mutating func changeAttempt(_ body: (inout Attempt, Recovery?) -> Void) {
    switch phase {
    case .joining(var attempt):
      body(&attempt, nil)
      phase = .joining(attempt)
    case .recovering(let recovery, var attempt):
      body(&attempt, recovery)
      phase = .recovering(recovery, attempt)
    default: break
    }
  }

  /// A session stands once both of its connections do; the media's may never have been lost.
  private mutating func standIfComplete(at now: MediaTime) {
    switch phase {
    case .joining(let attempt) where attempt.isSignalled && link.isConnected:
      phase = .standing(Standing())
      act(.connected)
    case .recovering(let recovery, let attempt) where attempt.isSignalled && link.isConnected:
      broughtBack(by: recovery, at: now)
    default: break
    }
  }

  mutating func pollConnection(at now: MediaTime) {
    switch phase {
    case .waiting(let recovery, let until) where until <= now: attempt(recovery)
    case .joining(let attempt), .recovering(_, let attempt):
      guard let deadline = attempt.deadline, deadline <= now else { return }
      attemptFailed(SessionFailure(LiveKitError(.timedOut, complaint), remedy: .full), at: now)
    default: break
    }
  }

  private var complaint: String {
    if case .recovering(let recovery, _) = phase, recovery.mode == .quick, !recovery.isOfFirstSession {
      return "the server went on with the session but its media did not come back"
    }
    return "\(options.server) accepted the join but no media connection has come about"
  }

  // MARK: Failures

  /// Whether a session has stood.
  private var hasStood: Bool {
    switch phase {
    case .standing: true
    case .waiting(let recovery, _), .recovering(let recovery, _): !recovery.isOfFirstSession
    case .idle, .joining, .ended: false
    }
  }

  /// The session has failed, or the attempt to make one.
  mutating func failed(_ failure: SessionFailure, at now: MediaTime) {
    guard let remedy = hasStood ? failure.laterRemedy : failure.remedy else { return end(failure.error) }
    switch phase {
    case .standing(let standing): lose(standing, remedy, because: failure, at: now)
    case .joining, .recovering: attemptFailed(failure, at: now)
    // What is lost already cannot be lost again.
    case .idle, .waiting, .ended: break
    }
  }

  private mutating func lose(
    _ standing: Standing, _ mode: ReconnectMode, because failure: SessionFailure, at now: MediaTime
  ) {
    guard options.connect.reconnectAttempts > 0 else { return end(failure.error) }
    // What is lost again and again is brought back more and more slowly.
    let wasSteady = standing.since.map { now - $0 > Self.steadiness } ?? false
    let losses = wasSteady ? 0 : standing.losses
    let delays = ReconnectDelays(options.connect, from: losses, chance: options.chance)
    act(.reconnecting(mode, isNew: true, because: failure.error))
    tryAgain(
      Recovery(
        mode: mode, delays: delays, cause: failure.error, reason: failure.reason, since: now, losses: losses + 1),
      at: now)
  }

  /// A server that cannot connect the media cuts the signalling, so that whoever comes back tries another way. That has
  /// the time of the first attempt, and nobody is told: nothing has stood yet.
  private mutating func joinFailed(_ attempt: Attempt, _ failure: SessionFailure, at now: MediaTime) {
    guard attempt.isSignalled, failure.remedy == .quick, let limit = attempt.deadline,
      options.connect.reconnectAttempts > 0
    else { return end(failure.error) }
    let delays = ReconnectDelays(options.connect, chance: options.chance)
    tryAgain(
      Recovery(
        mode: .quick, delays: delays, cause: failure.error, reason: failure.reason, since: now, losses: 0,
        limit: limit), at: now)
  }

  mutating func attemptFailed(_ failure: SessionFailure, at now: MediaTime) {
    switch phase {
    case .joining(let attempt): joinFailed(attempt, failure, at: now)
    case .recovering(var recovery, _):
      recovery.cause = failure.error
      guard let remedy = failure.laterRemedy else { return giveUp(recovery) }
      tryAgain(recovery, with: remedy, at: now)
    case .idle, .standing, .waiting, .ended: break
    }
  }

  /// - Parameter remedy: what a session could not do another one may, at once; never the other way round.
  private mutating func tryAgain(_ recovery: Recovery, with remedy: ReconnectMode? = nil, at now: MediaTime) {
    if remedy == .full, recovery.mode == .quick { return beginAnew(recovery, at: now) }
    var recovery = recovery
    guard let delay = recovery.delays.next(), recovery.mayBegin(at: now + delay) else {
      return giveUp(recovery, at: now)
    }
    phase = .waiting(recovery, until: now + delay)
    pollConnection(at: now)
  }

  /// None of the attempts is used up: the last one may be the one that the server answers so.
  private mutating func beginAnew(_ recovery: Recovery, at now: MediaTime) {
    guard recovery.mayBegin(at: now) else { return giveUp(recovery) }
    var recovery = recovery
    recovery.mode = .full
    if !recovery.isOfFirstSession { act(.reconnecting(.full, isNew: false, because: recovery.cause)) }
    phase = .waiting(recovery, until: now)
    pollConnection(at: now)
  }

  /// - Parameter now: when the last of all attempts has failed; nil where another one would not help.
  private mutating func giveUp(_ recovery: Recovery, at now: MediaTime? = nil) {
    guard !recovery.isOfFirstSession else { return end(recovery.cause) }
    let tried = now.map { effort(of: $0 - recovery.since) } ?? ""
    end(
      LiveKitError(
        recovery.cause.code,
        "the connection was lost and could not be brought back\(tried): \(recovery.cause.message)",
        fault: recovery.cause.fault, underlying: recovery.cause.underlying))
  }

  /// How much was tried, and what has more of it tried, in a program and on a command line.
  private func effort(of duration: Duration) -> String {
    " in \(duration.components.seconds) s (`reconnectAttempts`, --reconnect-attempts: "
      + "\(options.connect.reconnectAttempts))"
  }

  mutating func end(_ error: LiveKitError?) {
    phase = .ended
    for identity in roster.identities { removeTracks(of: identity) }
    act(.ended(error))
  }

  // MARK: Going on

  private mutating func broughtBack(by recovery: Recovery, at now: MediaTime) {
    var standing = Standing(since: recovery.isOfFirstSession ? nil : now, losses: recovery.losses)
    phase = .standing(standing)
    act(recovery.isOfFirstSession ? SessionAction.RoomState.connected : .reconnected(recovery.mode))
    // What was told last may have been lost with the connection; a new session begins with all of it.
    if recovery.mode == .quick { settings.doubt(at: now) }
    // If it fails there is another loss to mend, and all is told again.
    for sid in roster.sids(where: \.wish.isUntold) {
      change(sid) { $0.settle() }
      if roster.tracks[sid]?.isAbsent == false { tellSubscription(of: sid, earlier: nil) }
    }
    if roster.isIncomplete { standing.returnLimit = now + Self.returnTime }
    phase = .standing(standing)
    publisherReturns(at: now)
  }

  /// What does not come back in a new session is not waited for any longer.
  mutating func giveUpWaiting() {
    if case .standing(var standing) = phase {
      standing.returnLimit = nil
      phase = .standing(standing)
    }
    for sid in roster.sids {
      change(sid) { $0.resolve() }
      if roster.tracks[sid]?.isAbsent == true { unpublish(sid) }
    }
    for identity in roster.identities where roster.members[identity]?.isAbsent == true { remove(identity) }
    act(.matchTracks)
  }

  // MARK: Signalling

  mutating func joined(_ join: Livekit_JoinResponse, at now: MediaTime) {
    let isFirst = !isRecovering
    ourselves = join.participant
    link.isSubscriberPrimary = join.subscriberPrimary
    changeAttempt { attempt, _ in attempt.isSignalled = true }
    act(.learn(join, isFirst: isFirst))
    act(.makeTransport(join))
    guard isFirst else { return reconcileParticipants(join.otherParticipants) }
    for info in join.otherParticipants { meet(info) }
  }

  /// The session goes on: the server is told what it may have missed.
  mutating func resumed(at now: MediaTime) {
    guard case .recovering(let recovery, _) = phase, recovery.mode == .quick else { return }
    changeAttempt { attempt, _ in attempt.isSignalled = true }
    awaitList()
    var request = Livekit_SignalRequest()
    request.syncState = syncState
    act(.send(request))
    tellOverdueSubscriptions()
    standIfComplete(at: now)
  }

  // MARK: Transport

  mutating func changed(_ state: PeerState, at now: MediaTime) {
    link.isConnected = state == .connected
    guard !link.isConnected else { return standIfComplete(at: now) }
    lost(state, link.isSubscriberPrimary ? .subscriberFailed : .publisherFailed, at: now)
  }

  /// What becomes of the session where one of its connections is lost.
  /// - Parameter reason: which one it was.
  mutating func lost(_ state: PeerState, _ reason: ReconnectReason, at now: MediaTime) {
    switch state {
    // While the session is resumed for it, this is no news.
    case .disconnected(let error):
      if !isRecovering { failed(SessionFailure(LiveKitError(error), remedy: .quick, reason: reason), at: now) }
    case .failed(let error): mediaFailed(error, at: now)
    case .new, .connecting, .connected, .closed: break
    }
  }

  /// A connection of the session has failed, and only another session helps.
  mutating func mediaFailed(_ error: PeerError, at now: MediaTime) {
    // Why the server has ended the media it says on the signalling connection, which may be read a little later, or
    // ends that, too: whoever was sent away is not to come back.
    guard case .closedByPeer = error else {
      return failed(SessionFailure(LiveKitError(error), remedy: .full), at: now)
    }
    link.farewell = link.farewell ?? now + Self.farewell
  }

  mutating func answered(_ negotiation: SessionEvent.Negotiation) {
    // That of a restart comes behind the list, if there is one; any other may come before.
    if !roster.list.isComplete, negotiation.restartsICE(after: link.negotiation) { endList() }
    link.negotiation = negotiation
    var request = Livekit_SignalRequest()
    request.answer.type = "answer"
    request.answer.sdp = negotiation.answer
    request.answer.id = negotiation.id
    act(.send(request))
    act(.matchTracks)
  }
}
