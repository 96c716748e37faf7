import LiveKitProtocol
import MediaCore

// What publications and renderers ask for.
extension RoomSession: SubscriptionRequests {
  static let notConnected = LiveKitError(
    .invalidState, "the room is not connected; connect it before you ask for tracks")

  func set(subscribed: Bool, of publication: RemoteTrackPublication) async throws {
    guard !state.isEnded else { throw Self.notConnected }
    guard isPublished(publication) else { return }
    for request in ask(.want(sid: publication.sid, subscribed)) { try await request.value }
  }

  func change(_ publication: RemoteTrackPublication, _ edit: @Sendable (inout TrackSettings) -> Void) async throws {
    let sid = publication.sid
    guard isPublished(publication), let subscription = state.roster.tracks[sid], subscription.isSubscribed else {
      throw LiveKitError(.invalidState, "track \(sid) is not subscribed; subscribe before its settings are changed")
    }
    var settings = subscription.settings.wanted
    edit(&settings)
    handle(.configure(sid: sid, settings))
    do { try await settingsTold() } catch {
      handle(.configurationFailed(sid: sid))
      throw error
    }
  }

  func hold(_ publication: RemoteTrackPublication, _ need: OutputNeed) async {
    await askQuietly(.hold(sid: publication.sid, need), of: publication)
  }
  func release(_ publication: RemoteTrackPublication, _ need: OutputNeed) async {
    await askQuietly(.release(sid: publication.sid, need), of: publication)
  }

  /// Whether it has not ended: another one may have its SID since, where a server did not name it for a moment.
  private func isPublished(_ publication: RemoteTrackPublication) -> Bool {
    find(publication.sid)?.publication === publication
  }

  /// Whoever waits for the track is told where there is no connection to ask for it on.
  private func askQuietly(_ event: SessionEvent, of publication: RemoteTrackPublication) async {
    guard isPublished(publication) else { return }
    let sent = ask(event)
    if sent.isEmpty { try? await settingsTold() }
    for request in sent { try? await request.value }
  }

  private func ask(_ event: SessionEvent) -> [Task<Void, any Error>] {
    handle(event)
    return requests.sent
  }

  /// Returns once the server was told of the settings that are due. All are told again once a connection is back.
  private func settingsTold() async throws {
    guard !state.isRecovering else { return }
    guard !state.isEnded, link.client?.isOpen == true else { throw Self.notConnected }
    guard state.settings.nextDeadline != nil else { return }
    try await withCheckedThrowingContinuation { requests.waiters.append($0) }
  }

  /// Sends at once; the task ends when the request has left.
  func confirm(
    _ request: Livekit_SignalRequest, _ confirmation: SessionAction.Confirmation
  ) -> Task<Void, any Error> {
    Task.immediate {
      do {
        try await send(request)
        handle(.confirmed(confirmation))
      } catch {
        handle(.unconfirmed(confirmation))
        throw error
      }
    }
  }

  private func send(_ request: Livekit_SignalRequest) async throws {
    guard let client = link.client, client.isOpen else { throw Self.notConnected }
    do { try await client.send(confirming: request) } catch { throw LiveKitError(error) }
  }

  // MARK: Renderers

  /// Told by a track whose renderers are others than before, on any thread.
  nonisolated func demandChanged(of track: Track) {
    guard usesAdaptiveStream else { return }
    Task {
      await readDemands()
      await demandsRead([track])
    }
  }

  private func readDemands() async { await services.demands?.read() }

  func demandsRead(_ changed: [Track]) {
    for track in changed {
      if let sid = track.sid { handle(.demandChanged(sid: sid)) }
    }
  }

  // MARK: Audio fallback

  func watchCongestion() {
    guard services.congestion == nil else { return }
    services.congestion = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: AudioFallback.interval)
        await self?.measure()
      }
    }
  }

  private func measure() async {
    var measurements: [String: SessionEvent.Measurement] = [:]
    for participant in room.remoteParticipants.values {
      for (sid, publication) in participant.trackPublications {
        guard let track = publication.receivedTrack, let media = track.incoming else { continue }
        let count = LossWindow.Count(await media.statistics().rtp)
        measurements[sid] = .init(
          media: ObjectIdentifier(media), count: count, decoding: media.decoding, demand: track.demand)
      }
    }
    handle(.measured(measurements))
  }
}
