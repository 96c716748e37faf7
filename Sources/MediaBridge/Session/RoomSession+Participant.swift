import LiveKitProtocol
import MediaCore

// What this participant says of itself, and whom it allows its tracks.
extension RoomSession {
  /// As long as LiveKit's clients wait for it.
  private static let answerTime = Duration.seconds(5)

  /// Returns once the server has taken it.
  func update(_ change: Livekit_UpdateParticipantMetadata) async throws(LiveKitError) {
    try await untilStanding(.now + state.options.connect.timeout)
    let local = room.localParticipant
    // Of what it is already nobody is told.
    guard !change.isDone(local.name ?? "", local.metadata ?? "", local.attributes) else { return }
    let (id, answer) = requests.awaitAnswer(to: change)
    defer { requests.forgetAnswer(id) }
    var request = Livekit_SignalRequest()
    request.updateMetadata = change
    request.updateMetadata.requestID = id
    link.client?.send(request)
    try await answer.value(
      within: Self.answerTime,
      else: LiveKitError(.timedOut, "the server does not say whether it has taken the change; try again"))
  }

  /// Told again in a new session.
  func allow(_ permission: Livekit_SubscriptionPermission) async throws(LiveKitError) {
    try await untilStanding(.now + state.options.connect.timeout)
    services.local.permission = permission
    tellPermission()
  }

  func tellPermission() {
    guard let permission = services.local.permission else { return }
    var request = Livekit_SignalRequest()
    request.subscriptionPermission = permission
    link.client?.send(request)
  }
}

extension LiveKitError {
  /// Why the server did not do what it was asked for; nil where it did.
  init?(_ response: Livekit_RequestResponse) {
    let said = response.message.isEmpty ? "\(response.reason)" : response.message
    switch response.reason {
    case .ok: return nil
    case .notAllowed: self.init(.permissionDenied, "the server does not allow it: \(said)")
    case .limitExceeded: self.init(.invalidParameter, "it is too long for the server: \(said)")
    default: self.init(.invalidState, "the server has not done it: \(said)", fault: .server)
    }
  }
}
