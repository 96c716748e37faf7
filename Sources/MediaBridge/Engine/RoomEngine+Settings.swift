import LiveKitProtocol
import MediaCore
import SignalTransport

// What publications ask of the server.
extension RoomEngine: SubscriptionRequests {
  nonisolated var usesAdaptiveStream: Bool { options.adaptiveStream }

  func tellSubscription(of publication: RemoteTrackPublication) async throws {
    if publication.isWanted, let (participant, _) = find(publication.sid) { judge(publication, of: participant) }
    guard reconnection == nil else { return subscriptionChangedMeanwhile(publication) }
    if publication.encryptionType != .none, publication.isWanted { return }
    try await send(.subscription(to: [publication], isWanted: publication.isWanted))
  }

  /// It is told once the connection is back.
  private func subscriptionChangedMeanwhile(_ publication: RemoteTrackPublication) {
    reconnection?.changed.append(publication)
    let (isWanted, isInterrupted) = publication.subscription.withLock { ($0.isWanted, $0.isInterrupted) }
    guard !isWanted, isInterrupted, let (participant, _) = find(publication.sid) else { return }
    unsubscribe(publication, of: participant)
  }

  func tellSettings(of publication: RemoteTrackPublication) async throws {
    // All settings are told again once the connection is back.
    guard reconnection == nil else { return }
    _ = try connection()
    try await withCheckedThrowingContinuation { waiter in
      settingsWaiters.append(waiter)
      noteSettings(of: publication.sid)
    }
  }

  /// A server forgets what was asked for a track when its subscription ends. With adaptive stream it begins with the
  /// smallest layer, or with what it likes.
  func beginSettings(of publication: RemoteTrackPublication) {
    publication.subscription.withLock { $0.toldSettings = initialSettings }
    repeatSettings(of: publication)
    if options.audioFallback { watchCongestion() }
  }

  /// The server of a new session has forgotten what was asked for, and is told again. Until then the publication says
  /// what the one before knew, so that what the program did does not seem to end and to begin anew. What the link made
  /// of it is over.
  func repeatSettings(of publication: RemoteTrackPublication) {
    let told = publication.subscription.withLock { subscription in
      (subscription.losses, subscription.fallback) = (LossWindow(), AudioFallback())
      return subscription.toldSettings
    }
    // Where the publication says something else the server is told in any case: what it is told the publication says.
    settings.begin(publication.sid, with: told == initialSettings ? told : nil, at: .now)
    armSettings()
  }

  /// How a server begins by itself; nil when that is its own choice.
  private var initialSettings: TrackSettings? { usesAdaptiveStream ? nil : TrackSettings() }

  /// What is wanted of a track may have changed.
  func noteSettings(of sid: String) {
    settings.change(sid, at: .now)
    armSettings()
  }

  func tellSettingsAgain() {
    settings.doubt(at: .now)
    armSettings()
  }

  func endSettings() {
    demandWatcher?.cancel()
    congestionWatcher?.cancel()
    AdaptiveStreamBell.remove(self)
    settingsTeller?.task.cancel()
    resumeWaiters(throwing: Self.notConnected)
  }

  /// Sees to it that what is due is told in time.
  private func armSettings() {
    guard let deadline = settings.nextDeadline, settingsTeller.map({ deadline < $0.deadline }) ?? true else { return }
    settingsTeller?.task.cancel()
    let task = Task {
      try? await Task.sleep(for: deadline - .now)
      if !Task.isCancelled { await tellSettings() }
    }
    settingsTeller = (deadline, task)
  }

  private func tellSettings() async {
    settingsTeller = nil
    let messages = settings.poll(at: .now) { find($0)?.1.settingsToTell }
    let waiters = settingsWaiters
    settingsWaiters = []
    var failure: (any Error)?
    for message in messages {
      do { try await tell(message) } catch { failure = error }
    }
    for waiter in waiters { waiter.resume(with: failure.map { .failure($0) } ?? .success(())) }
    armSettings()
  }

  private func tell(_ message: SettingsSchedule.Message) async throws {
    let meant = message.sids.compactMap(find)
    // Before it is sent: while this waits the next one may be told, and whoever comes last through here may be the first.
    let earlier = meant.map { _, publication in
      publication.subscription.withLock { subscription in
        defer { subscription.toldSettings = message.settings }
        return subscription.toldSettings
      }
    }
    var request = Livekit_SignalRequest()
    request.trackSetting = Livekit_UpdateTrackSettings(message.settings, trackSids: message.sids)
    do { try await send(request) } catch {
      for ((_, publication), earlier) in zip(meant, earlier) {
        publication.subscription.withLock { $0.toldSettings = earlier }
      }
      throw error
    }
    for (participant, publication) in meant { noteStream(of: publication, by: participant) }
  }

  private func resumeWaiters(throwing error: LiveKitError) {
    for waiter in settingsWaiters { waiter.resume(throwing: error) }
    settingsWaiters = []
  }

  private func send(_ request: Livekit_SignalRequest) async throws {
    let signal = try connection()
    do { try await signal.send(confirming: request) } catch { throw LiveKitError(error) }
  }

  private static let notConnected = LiveKitError(
    .invalidState, "the room is not connected; connect it before you ask for tracks")

  private func connection() throws -> SignalConnection {
    guard let signal, !isOver else { throw Self.notConnected }
    return signal
  }
}

extension Livekit_SignalRequest {
  /// Asks for tracks, or no longer.
  static func subscription(to publications: [RemoteTrackPublication], isWanted: Bool) -> Livekit_SignalRequest {
    var request = Livekit_SignalRequest()
    request.subscription.trackSids = publications.map(\.sid)
    request.subscription.subscribe = isWanted
    return request
  }
}
