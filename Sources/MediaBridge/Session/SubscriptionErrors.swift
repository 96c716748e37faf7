import LiveKitProtocol
import SDP

extension LiveKitError {
  static func noMedia(_ subscription: Subscription) -> LiveKitError {
    LiveKitError(
      .noMedia,
      "nothing of \(subscription.described) has come in \(Int(MediaTimeout.firstPatience.seconds)) s "
        + "although it is subscribed; check that its publisher still sends it, and that nothing drops it on the way to "
        + "the server and from there")
  }

  static func notSent(_ subscription: Subscription) -> LiveKitError {
    LiveKitError(
      .noMedia,
      "the server has not begun to send \(subscription.described) in \(Int(SubscriptionWatch.patience.seconds)) s "
        + "although it was asked for it; perhaps it limits how many tracks one participant receives "
        + "(subscription_limit_video, subscription_limit_audio): take fewer, raise the limit, or look into its log",
      fault: .server)
  }

  static func encrypted(_ subscription: Subscription) -> LiveKitError {
    let info = subscription.info
    return LiveKitError(
      .encrypted,
      "the \(info.source.spoken(info.kind)) of \(subscription.identity) is encrypted end to end, which is not supported "
        + "yet; it can be received once its publisher turns encryption off")
  }

  static func notAllowed(_ subscription: Subscription) -> LiveKitError {
    LiveKitError(
      .permissionDenied,
      "\(subscription.described) may not be received here; its publisher has to allow it, and from then on it "
        + "comes by itself",
      fault: .publisher)
  }

  init(_ error: Livekit_SubscriptionError, _ subscription: Subscription) {
    let track = subscription.described
    switch error {
    case .seCodecUnsupported:
      let media = subscription.info.kind == .video ? MediaSection.Kind.video : .audio
      let known = MediaCapabilities.subscriber.media(for: media)?.formats ?? []
      self.init(
        .unsupportedCodec,
        "the server cannot send \(track) here: it is published in \(subscription.info.mimeType); let its publisher use "
          + "one of " + known.map(\.name).joined(separator: ", "))
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
  var hasKnownCodec: Bool {
    let names = mimeTypes.compactMap { $0.split(separator: "/").last?.lowercased() }
    guard kind == .video, !names.isEmpty else { return true }
    return MediaCapabilities.subscriber.video.formats.contains { names.contains($0.name.lowercased()) }
  }
}

extension Subscription {
  /// Such as "camera of alice (TR_VC1234)".
  fileprivate var described: String {
    let what = !info.name.isEmpty ? info.name : info.source == .unknown ? "the \(info.kind) track" : "\(info.source)"
    return "\(what) of \(identity) (\(sid))"
  }
}
