import LiveKitProtocol
import SDP

// Tracks that are wanted and do not come, and why.
extension RoomEngine {
  func update(_ info: Livekit_SubscriptionPermissionUpdate) {
    guard let (participant, publication) = find(info.trackSid) else { return }
    // A server says so of every new subscription, also where it is no news.
    if publication.subscription.set(\.isAllowed, to: info.allowed) {
      room.tell(.subscriptionAllowedChanged(participant, publication, isAllowed: info.allowed))
    }
    let isToBeTold = publication.subscription.withLock { subscription in
      let isDenied = !info.allowed && subscription.isWanted
      defer { subscription.isDenialTold = isDenied }
      return isDenied && !subscription.isDenialTold
    }
    if isToBeTold { tell(.notAllowed(publication, of: participant), publication, of: participant) }
  }

  func subscriptionFailed(_ response: Livekit_SubscriptionResponse) {
    guard let (participant, publication) = find(response.trackSid) else { return }
    tell(LiveKitError(response.err, publication, of: participant), publication, of: participant)
    if response.err == .seCodecUnsupported { note(.codecNotSupported, true, publication, of: participant) }
  }

  func tell(_ error: LiveKitError, _ publication: RemoteTrackPublication, of participant: RemoteParticipant) {
    room.tell(.subscriptionFailed(participant, trackSid: publication.sid, error))
  }
}

extension LiveKitError {
  static func noMedia(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) -> LiveKitError {
    LiveKitError(
      .noMedia,
      "nothing of \(publication.described(of: participant)) has come in \(Int(StreamWatch.firstPatience.seconds)) s "
        + "although it is subscribed; check that its publisher still sends it, and that nothing drops it on the way to "
        + "the server and from there")
  }

  fileprivate static func notAllowed(
    _ publication: RemoteTrackPublication, of participant: RemoteParticipant
  ) -> LiveKitError {
    LiveKitError(
      .permissionDenied,
      "\(publication.described(of: participant)) may not be received here; its publisher has to allow it, and then it "
        + "comes by itself")
  }

  fileprivate init(
    _ error: Livekit_SubscriptionError, _ publication: RemoteTrackPublication, of participant: RemoteParticipant
  ) {
    let track = publication.described(of: participant)
    switch error {
    case .seCodecUnsupported:
      let known = MediaCapabilities.subscriber.media(for: publication.kind == .video ? .video : .audio)?.formats ?? []
      self.init(
        .unsupportedCodec,
        "the server cannot send \(track) here: it is published in \(publication.mimeType); let its publisher use one of "
          + known.map(\.name).joined(separator: ", "))
    case .seTrackNotfound:
      self.init(
        .trackNotFound,
        "the server does not know \(track); it may have ended just now: wait until it is published again")
    default:
      self.init(
        .subscriptionFailed,
        "the server could not send \(track) and did not say why; subscribe to it again, and look into the server's log "
          + "if it goes on")
    }
  }
}

extension RemoteTrackPublication {
  /// Such as "camera of alice (TR_VC1234)".
  fileprivate func described(of participant: RemoteParticipant) -> String {
    let (name, source) = (name, source)
    let what = !name.isEmpty ? name : source == .unknown ? "the \(kind) track" : "\(source)"
    return "\(what) of \(participant.identity ?? participant.sid) (\(sid))"
  }
}
