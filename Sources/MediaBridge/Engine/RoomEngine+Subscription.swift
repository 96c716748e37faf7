import LiveKitProtocol
import MediaCore
import SignalTransport

// What publications ask of the server.
extension RoomEngine: SubscriptionRequests {
  /// How long changes of settings are gathered: a program that sets three things in a row means one change.
  private static let moment = Duration.milliseconds(10)

  func set(subscribed: Bool, trackSid: String) throws {
    var request = Livekit_SignalRequest()
    request.subscription.trackSids = [trackSid]
    request.subscription.subscribe = subscribed
    try connection().send(request)
  }

  func set(_ settings: TrackSettings, of publication: RemoteTrackPublication) async throws {
    _ = try connection()
    settingsToTell[publication.sid] = (settings, publication)
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
    let entries = settingsToTell.filter { _, entry in
      entry.settings != entry.publication.subscription.withLock { $0.toldSettings }
    }
    settingsToTell = [:]
    settingsTeller = nil
    let signal = try connection()
    for (settings, sids) in Dictionary(grouping: entries.keys, by: { entries[$0]?.settings }) {
      guard let settings else { continue }
      var request = Livekit_SignalRequest()
      request.trackSetting = Livekit_UpdateTrackSettings(settings, trackSids: sids.sorted())
      signal.send(request)
    }
    for (settings, publication) in entries.values {
      publication.subscription.withLock { $0.toldSettings = settings }
    }
  }

  /// A server forgets what was asked for a track when its subscription ends.
  func restoreSettings(of publication: RemoteTrackPublication) {
    let settings = publication.subscription.withLock { subscription in
      subscription.toldSettings = TrackSettings()
      return subscription.settings
    }
    guard settings != TrackSettings() else { return }
    Task { try? await set(settings, of: publication) }
  }

  private func connection() throws -> SignalConnection {
    guard let signal, !isOver else {
      throw LiveKitError(.invalidState, "the room is not connected; connect it before you ask for tracks")
    }
    return signal
  }
}
