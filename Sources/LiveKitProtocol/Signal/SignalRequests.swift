extension Livekit_SignalRequest {
  /// Asks for tracks, or no longer.
  public static func subscription(to sids: [String], isWanted: Bool) -> Livekit_SignalRequest {
    var request = Livekit_SignalRequest()
    request.subscription.trackSids = sids
    request.subscription.subscribe = isWanted
    return request
  }

  /// Where this side's end of a connection can be reached.
  /// - Parameter candidate: as an attribute's value, `candidate:…`.
  public static func trickle(_ candidate: String, for target: Livekit_SignalTarget) -> Livekit_SignalRequest {
    var request = Livekit_SignalRequest()
    request.trickle.candidateInit = CandidateInit.text(candidate)
    request.trickle.target = target
    return request
  }

  /// The participant goes, of its own accord.
  public static var goodbye: Livekit_SignalRequest {
    var request = Livekit_SignalRequest()
    request.leave.reason = .clientInitiated
    request.leave.action = .disconnect
    return request
  }
}
