import MediaCore

// Where audio fallback is on: how tracks arrive decides what is asked of those with pictures.
extension RoomEngine {
  func watchCongestion() {
    guard congestionWatcher == nil else { return }
    congestionWatcher = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: AudioFallback.interval)
        await self?.measureLosses()
      }
    }
  }

  private func measureLosses() async {
    for publication in publications {
      guard let track = publication.track else { continue }
      let statistics = await track.incoming.statistics()
      publication.subscription.withLock { subscription in
        // It may be another one meanwhile, which counts for itself.
        if subscription.track === track { subscription.losses.add(LossWindow.Count(statistics.rtp), at: .now) }
      }
    }
    guard !isOver else { return }
    for publication in publications where publication.kind == .video { decide(publication, among: publications) }
  }

  private func decide(_ publication: RemoteTrackPublication, among all: [RemoteTrackPublication]) {
    guard let wanted = publication.wantedSettings else { return }
    let now = MediaTime.now
    let hasLowerLayer = publication.simulcasted && wanted.exceedsLowest(of: publication.layers)
    let isSoundPoor = all.contains { $0.kind == .audio && $0.isPoor }
    let isLinkWell = all.allSatisfy { $0 === publication || !$0.strainsLink(at: now) }
    let isNews = publication.subscription.withLock { subscription in
      let observation = AudioFallback.Observation(
        loss: isSoundPoor ? subscription.losses.lossBeforeRepair : subscription.losses.loss,
        hasLowerLayer: hasLowerLayer, isLinkWell: isLinkWell)
      guard subscription.fallback.poll(observation, at: now) else { return false }
      subscription.losses.restart()
      return true
    }
    guard isNews else { return }
    logger.debug(
      "audio fallback",
      metadata: ["track": "\(publication.sid)", "restriction": "\(publication.fallbackRestriction)"])
    noteSettings(of: publication.sid)
  }
}

extension RemoteTrackPublication {
  var fallbackRestriction: VideoRestriction { subscription.withLock { $0.fallback.restriction } }

  /// Whether too much of it is lost, or it is being tried: one track at a time is.
  fileprivate func strainsLink(at time: MediaTime) -> Bool {
    isPoor || subscription.withLock { $0.track != nil && $0.fallback.isTrying(at: time) }
  }

  fileprivate var isPoor: Bool {
    subscription.withLock { subscription in
      subscription.track != nil && subscription.losses.loss.map { $0 >= AudioFallback.heavyLoss } ?? false
    }
  }
}
