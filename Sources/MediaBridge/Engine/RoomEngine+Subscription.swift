import LiveKitProtocol
import MediaCore
import SignalTransport

// What publications ask of the server.
extension RoomEngine: SubscriptionRequests {
  /// How long changes of settings are gathered: a program that sets three things in a row means one change.
  private static let moment = Duration.milliseconds(10)

  func tellSubscription(of publication: RemoteTrackPublication) throws {
    var request = Livekit_SignalRequest()
    request.subscription.trackSids = [publication.sid]
    request.subscription.subscribe = publication.subscription.withLock { $0.isWanted }
    try connection().send(request)
  }

  func tellSettings(of publication: RemoteTrackPublication) async throws {
    _ = try connection()
    settingsToTell[publication.sid] = publication
    let teller =
      settingsTeller
      ?? Task {
        try? await Task.sleep(for: Self.moment)
        try tellSettings()
      }
    settingsTeller = teller
    try await teller.value
  }

  /// One message for all tracks that are to have the same.
  private func tellSettings() throws {
    let publications = settingsToTell
    settingsToTell = [:]
    settingsTeller = nil
    let signal = try connection()
    var news: [TrackSettings: [String]] = [:]
    for (sid, publication) in publications {
      publication.subscription.withLock { subscription in
        guard subscription.settings != subscription.toldSettings else { return }
        subscription.toldSettings = subscription.settings
        news[subscription.settings, default: []].append(sid)
      }
    }
    for (settings, sids) in news {
      var request = Livekit_SignalRequest()
      request.trackSetting = Livekit_UpdateTrackSettings(settings, trackSids: sids.sorted())
      signal.send(request)
    }
  }

  /// A server forgets what was asked for a track when its subscription ends.
  func restoreSettings(of publication: RemoteTrackPublication) {
    let isDefault = publication.subscription.withLock { subscription in
      subscription.toldSettings = TrackSettings()
      return subscription.settings == TrackSettings()
    }
    if !isDefault { Task { try? await tellSettings(of: publication) } }
  }

  private func connection() throws -> SignalConnection {
    guard let signal, !isOver else {
      throw LiveKitError(.invalidState, "the room is not connected; connect it before you ask for tracks")
    }
    return signal
  }
}
