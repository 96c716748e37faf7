import MediaCore

/// Asks renderers what they need, now and then and when they say that it has changed. They are asked on the main actor,
/// for which nothing here waits: while it is busy they count as what they were last. Without renderers nothing runs.
actor DemandWatcher {
  private enum Reading {
    case none
    case underWay
    /// Something has changed meanwhile.
    case toBeRepeated
  }

  private enum Timer {
    case off
    case on(Task<Void, Never>)
    case stopped
  }

  private weak var room: Room?
  private let tell: @Sendable ([Track]) async -> Void
  private var reading = Reading.none
  private let timer = Locked(Timer.off)

  /// - Parameter tell: told of tracks of which something else is needed than before.
  init(room: Room, tell: @escaping @Sendable ([Track]) async -> Void) {
    (self.room, self.tell) = (room, tell)
    AdaptiveStreamBell.add(self) { [weak self] in Task { await self?.read() } }
  }

  nonisolated func stop() {
    AdaptiveStreamBell.remove(self)
    timer.withLock { timer in
      if case .on(let task) = timer { task.cancel() }
      timer = .stopped
    }
  }

  /// Reads now and then while there are renderers.
  private func keepTime(_ isNeeded: Bool) {
    timer.withLock { timer in
      switch timer {
      case .off where isNeeded:
        timer = .on(
          Task { [weak self] in
            while !Task.isCancelled {
              try? await Task.sleep(for: SettingsSchedule.interval)
              guard let self else { return }
              await self.read()
            }
          })
      case .on(let task) where !isNeeded:
        task.cancel()
        timer = .off
      case .off, .on, .stopped: break
      }
    }
  }

  /// One reading at a time, so that a main actor that never runs has one to do and not a thousand.
  func read() {
    guard reading == .none else {
      reading = .toBeRepeated
      return
    }
    let all = room?.remoteParticipants.values.flatMap { $0.videoTracks.compactMap(\.track) } ?? []
    let tracks = all.filter(\.isRendered)
    keepTime(!tracks.isEmpty)
    guard !tracks.isEmpty else { return }
    reading = .underWay
    // A main actor that never runs shall not keep a connection alive that has ended.
    Task { @MainActor [weak self] in
      let changed = tracks.filter { $0.readDemands() }
      await self?.finish(changed)
    }
  }

  private func finish(_ changed: [Track]) async {
    let isToBeRepeated = reading == .toBeRepeated
    reading = .none
    if !changed.isEmpty { await tell(changed) }
    if isToBeRepeated { read() }
  }
}
