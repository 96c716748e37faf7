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
    let error = LiveKitError(response.err, publication, of: participant)
    guard response.err == .seCodecUnsupported else { return tell(error, publication, of: participant) }
    refuse(publication, of: participant, for: error)
  }

  /// Tells at once what the publication says of itself: that it is encrypted, or that none of its codecs can be decoded
  /// here. A server is asked for the latter all the same, since it may know of another codec.
  func judge(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) {
    let info = publication.info.withLock { $0 }
    // What comes already says more than what is said of it.
    guard info.isEncrypted || !info.hasKnownCodec && publication.track == nil else {
      return publication.subscription.withLock { ($0.refusal, $0.isRefusalTold) = (nil, false) }
    }
    refuse(
      publication, of: participant,
      for: info.isEncrypted
        ? .encrypted(publication, of: participant)
        : LiveKitError(.seCodecUnsupported, publication, of: participant))
  }

  /// Told once, to those who want it.
  private func refuse(
    _ publication: RemoteTrackPublication, of participant: RemoteParticipant, for error: LiveKitError
  ) {
    let isToBeTold = publication.subscription.withLock { subscription in
      subscription.refusal = error
      defer { subscription.isRefusalTold = subscription.isWanted }
      return subscription.isWanted && !subscription.isRefusalTold
    }
    guard isToBeTold else { return }
    tell(error, publication, of: participant)
    if error.code == .unsupportedCodec { note(.codecNotSupported, true, publication, of: participant) }
    // Nobody needs what nobody can read; a server that subscribes by itself is told so.
    if error.code == .encrypted, autoSubscribe { signal?.send(.subscription(to: [publication], isWanted: false)) }
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

  fileprivate static func encrypted(
    _ publication: RemoteTrackPublication, of participant: RemoteParticipant
  ) -> LiveKitError {
    LiveKitError(
      .encrypted,
      "the \(publication.source.spoken(publication.kind)) of \(participant.identity ?? participant.sid) is encrypted end to "
        + "end, which is not supported yet; it can be received once its publisher turns encryption off")
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

extension TrackInfo {
  var isEncrypted: Bool { encryption != .none }

  /// Whether it is published in a codec that is received here, or may be as far as is known. A server turns audio into
  /// what its subscribers take.
  fileprivate var hasKnownCodec: Bool {
    let names = mimeTypes.compactMap { $0.split(separator: "/").last?.lowercased() }
    guard kind == .video, !names.isEmpty else { return true }
    return MediaCapabilities.subscriber.video.formats.contains { names.contains($0.name.lowercased()) }
  }
}

extension RemoteTrackPublication {
  /// Why it cannot be had as it is published; nil while nothing is known against it.
  var refusal: LiveKitError? { subscription.withLock { $0.refusal } }

  /// Such as "camera of alice (TR_VC1234)".
  fileprivate func described(of participant: RemoteParticipant) -> String {
    let (name, source) = (name, source)
    let what = !name.isEmpty ? name : source == .unknown ? "the \(kind) track" : "\(source)"
    return "\(what) of \(participant.identity ?? participant.sid) (\(sid))"
  }
}
