import LiveKitProtocol
import MediaCore

// Who is in the room, and what they publish, also across sessions.
extension SessionState {
  mutating func update(_ infos: [Livekit_ParticipantInfo]) {
    let others = infos.filter { $0.sid != ourselves.sid }
    guard !isReplaced(others) else { return end(LiveKitError(Livekit_DisconnectReason.duplicateIdentity)) }
    for info in infos where info.sid == ourselves.sid { learnOurselves(info) }
    roster.list.add(others, beginsIt: isList(infos))
    for info in others { update(info) }
    act(.matchTracks)
  }

  private mutating func learnOurselves(_ info: Livekit_ParticipantInfo) {
    guard info.version >= ourselves.version else { return }
    ourselves = info
    act(.learnOurselves(info))
  }

  /// The list of a server that goes on with the session. Nothing marks that of who is hidden, and where nobody else is
  /// there LiveKit's server sends them none: then it is all that is said until the offer.
  mutating func awaitList() {
    roster.list = ourselves.permission.hidden && link.isRestartedByOffer ? .begun([]) : .awaited([])
  }

  /// Whether it may be that list: it has ourselves, unless we are hidden. Repeated departures come before it, and what
  /// has just changed may, too.
  private func isList(_ infos: [Livekit_ParticipantInfo]) -> Bool {
    guard ourselves.permission.hidden else { return infos.contains { $0.sid == ourselves.sid } }
    return infos.contains { $0.sid != ourselves.sid && $0.state != .disconnected }
  }

  /// Whether another client has our identity: a server that is to resume our session goes on with that one's.
  /// - Parameter infos: without what is said of our own stay.
  private func isReplaced(_ infos: [Livekit_ParticipantInfo]) -> Bool {
    !roster.list.isComplete && infos.contains { $0.identity == ourselves.identity && $0.state != .disconnected }
  }

  /// Nothing more of the list comes, if any of it did.
  mutating func endList() {
    removeUnlisted()
    roster.list.giveUpWaiting()
  }

  /// The server has named everybody, unless it is still about to. Who has not come back to this session is waited for
  /// all the same.
  mutating func removeUnlisted() {
    guard case .begun(let named) = roster.list else { return }
    roster.list = .complete
    for identity in roster.identities where !named.contains(identity) {
      if roster.members[identity]?.isAbsent == false { remove(identity) }
    }
  }

  private mutating func update(_ info: Livekit_ParticipantInfo) {
    guard info.state == .disconnected else { return meet(info) }
    if let identity = roster.identity(leavingBy: info) { remove(identity) }
  }

  /// - Parameter isSameStay: also when the SID is another one, as it is in another session.
  mutating func meet(_ info: Livekit_ParticipantInfo, isSameStay: Bool = false) {
    let (identity, tracks) = (info.identity, info.tracks.map(TrackInfo.init))
    let known = roster.members[identity]
    if let known, !isSameStay, known.outdates(info) { return }
    if let known, known.sid != info.sid, !isSameStay, !isAwaited(identity) { remove(identity) }
    let isKnown = roster.members[identity] != nil
    roster.members[identity] = Roster.Member(info)
    if isKnown { recognise(tracks, of: identity) }
    act(isKnown ? .learn(info) : .meet(info), identity)
    updateTracks(of: identity, tracks)
  }

  /// Who is still there stays who they are, with what they published. Who is not may have lost the same server, and is
  /// waited for where something of theirs was subscribed, or the program has said that it is not to be.
  mutating func reconcileParticipants(_ infos: [Livekit_ParticipantInfo]) {
    let present = Set(infos.map(\.identity))
    for identity in roster.identities where !present.contains(identity) {
      if isAwaited(identity) { roster.members[identity]?.isAbsent = true } else { remove(identity) }
    }
    for info in infos { meet(info, isSameStay: true) }
  }

  mutating func remove(_ identity: String) {
    removeTracks(of: identity)
    roster.members[identity] = nil
    act(.leave, identity)
  }

  /// In another session a track may have another SID: it is the one of the same kind, source and name.
  private mutating func recognise(_ tracks: [TrackInfo], of identity: String) {
    let published = Set(tracks.map(\.sid))
    var gone = roster.tracks(of: identity).filter { !published.contains($0.sid) && $0.isAbsent }
    for info in tracks where roster.tracks[info.sid] == nil {
      guard let index = gone.firstIndex(where: { $0.info.isAlike(info) }) else { continue }
      rename(gone.remove(at: index).sid, to: info.sid, of: identity)
    }
  }

  private mutating func rename(_ old: String, to new: String, of identity: String) {
    settings.end(old)
    roster.tracks[new] = roster.tracks.removeValue(forKey: old)
    roster.tracks[new]?.info.sid = new
    act(.rename(from: old, to: new), identity)
  }

  /// The session goes on in another room: nobody is who they were.
  mutating func moved(to new: Livekit_RoomMovedResponse) {
    for identity in roster.identities { remove(identity) }
    (roster.list, roster.denied) = (.complete, [])
    if new.hasParticipant { ourselves = new.participant }
    act(.move(new))
    for info in new.otherParticipants where info.sid != new.participant.sid { meet(info) }
    act(.matchTracks)
  }

  // MARK: Tracks

  private mutating func updateTracks(of identity: String, _ tracks: [TrackInfo]) {
    let published = Set(tracks.map(\.sid))
    for track in roster.tracks(of: identity) where !published.contains(track.sid) {
      // In a new session it may still come.
      if !isAwaited(track) { unpublish(track.sid) }
    }
    var returned: [String] = []
    var haveOtherCodecs = false
    for info in tracks {
      if let known = roster.tracks[info.sid] {
        if known.isAbsent { returned.append(info.sid) }
        haveOtherCodecs = haveOtherCodecs || known.info.mimeTypes != info.mimeTypes
        learn(info)
      } else {
        publish(info, by: identity)
      }
      judge(info.sid)
    }
    tellIfUnusual(returned)
    if haveOtherCodecs { act(.learnCodecs) }
  }

  private mutating func publish(_ info: TrackInfo, by identity: String) {
    let subscription = Subscription(info, of: identity, isWanted: options.autoSubscribe)
    roster.tracks[info.sid] = subscription
    act(.publish(subscription), identity)
    if roster.denied.remove(info.sid) != nil { set(isAllowed: false, info.sid) }
  }

  private mutating func learn(_ info: TrackInfo) {
    change(info.sid) { subscription in
      let wasMuted = subscription.info.isMuted
      subscription.isAbsent = false
      subscription.info = info
      subscription.info.isMuted = wasMuted
    }
    setMuted(info.isMuted, info.sid)
  }

  mutating func removeTracks(of identity: String) {
    for track in roster.tracks(of: identity) { unpublish(track.sid) }
  }

  mutating func unpublish(_ sid: String) {
    unsubscribe(sid)
    act(.unpublish, sid)
    roster.tracks[sid] = nil
  }

  /// The media of what is subscribed has ended and is to come again in another session.
  mutating func interruptTracks() {
    for sid in roster.sids {
      let isExpected = roster.tracks[sid]?.stream?.isExpected ?? false
      change(sid) { $0.interrupt() }
      settings.end(sid)
      if isExpected { noteLoss(sid) }
    }
  }
}

extension TrackInfo {
  fileprivate func isAlike(_ info: TrackInfo) -> Bool {
    kind == info.kind && source == info.source && name == info.name
  }
}
