import MediaCore

/// How far the connection is with asking renderers what they need.
enum DemandReading {
  case none
  case underWay
  /// Something has changed meanwhile.
  case toBeRepeated
}

// What renderers need becomes what the server is asked for. They are asked on the main actor, for which nothing here
// waits: while it is busy they count as what they were last.
extension RoomEngine {
  func watchDemands() {
    AdaptiveStreamBell.add(self) { [weak self] in Task { await self?.readDemands() } }
    demandWatcher = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: SettingsSchedule.interval)
        await self?.readDemands()
      }
    }
  }

  /// Told by a track whose renderers are others than before.
  nonisolated func demandChanged(of track: Track) {
    guard usesAdaptiveStream else { return }
    Task {
      await readDemands()
      await noteDemand(of: track)
    }
  }

  private func noteDemand(of track: Track) {
    guard !isOver, let sid = track.sid else { return }
    noteSettings(of: sid)
  }

  /// One reading at a time, so that a main actor that never runs has one to do and not a thousand.
  private func readDemands() {
    guard demandReading == .none else {
      demandReading = .toBeRepeated
      return
    }
    let tracks = room.remoteParticipants.values.flatMap { $0.videoTracks.compactMap(\.track) }
    guard !isOver, !tracks.isEmpty else { return }
    demandReading = .underWay
    // A main actor that never runs shall not keep a connection alive that has ended.
    Task { @MainActor [weak self] in
      let changed = tracks.filter { $0.readDemands() }
      await self?.demandsRead(changed)
    }
  }

  private func demandsRead(_ changed: [Track]) {
    let isToBeRepeated = demandReading == .toBeRepeated
    demandReading = .none
    for track in changed { noteDemand(of: track) }
    if isToBeRepeated { readDemands() }
  }
}
