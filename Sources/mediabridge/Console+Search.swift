import MediaBridge

extension Console {
  /// Says what is waited for.
  func tell(waitingFor missing: String) {
    say("Waiting for \(missing)…")
    event("waiting", ["for": missing])
  }

  /// Says whose media a reader gets from now on.
  /// - Parameter isChosen: whether it could be that of somebody else: who takes all of them knows whose it is.
  func tell(taking publication: RemoteTrackPublication, of participant: RemoteParticipant, isChosen: Bool) {
    let identity = participant.identity ?? participant.sid
    if isChosen { say("Taking the \(publication.source.spoken(publication.kind)) of \(identity)") }
    event("track", ["participant": identity, "sid": publication.sid, "source": publication.source.description])
  }
}
