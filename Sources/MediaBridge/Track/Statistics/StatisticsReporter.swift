import MediaCore

/// Measures the tracks of a room each second, as long as it is wanted of any: one task for all.
final class StatisticsReporter: Sendable {
  private struct State {
    /// Those that want it; none of them longer than it is received.
    var tracks: [Track] = []
    /// There while there are tracks.
    var task: Task<Void, Never>?
    var isOver = false
  }

  private static let interval = Duration.seconds(1)
  /// A track that has just been added waits for the next time: rates of a moment say little.
  private static let shortestInterval = Duration.milliseconds(500)

  private let state = Locked(State())
  private let roundTrip: @Sendable () async -> Duration?
  private let tell: @Sendable (RoomEvent) -> Void

  /// - Parameters:
  ///   - roundTrip: how long the way to the server and back takes, as it was found out when this was asked before.
  ///   - tell: passes an event to the room.
  init(roundTrip: @escaping @Sendable () async -> Duration?, tell: @escaping @Sendable (RoomEvent) -> Void) {
    self.roundTrip = roundTrip
    self.tell = tell
  }

  /// Measures a track now, and so that the next time has something to compare with.
  func measure(_ track: Track) async { _ = await track.measure(roundTrip: await roundTrip()) }

  /// Does what the track wants. Calls that overtake each other end in the same.
  func follow(_ track: Track) {
    var isWanted: Bool
    repeat {
      isWanted = track.wantsStatistics
      track.incoming?.meter.measure(isWanted)
      isWanted ? add(track) : remove(track)
    } while track.wantsStatistics != isWanted
  }

  private func add(_ track: Track) {
    state.withLock { state in
      guard !state.isOver, !state.tracks.contains(where: { $0 === track }) else { return }
      state.tracks.append(track)
      if state.task == nil { state.task = Task { await self.run() } }
    }
  }

  private func remove(_ track: Track) { state.withLock { $0.tracks.removeAll { $0 === track } } }

  /// Nothing is measured or told when it has returned.
  func stop() async {
    let task = state.withLock { state in
      defer { state = State(isOver: true) }
      return state.task
    }
    task?.cancel()
    await task?.value
  }

  private func run() async {
    var next = ContinuousClock.now
    repeat {
      next = max(next + Self.interval, .now)
      do { try await Task.sleep(until: next, clock: .continuous) } catch { return }
    } while await reportAll()
  }

  /// - Returns: whether there is anything to do later. If not, the next track begins another task.
  private func reportAll() async -> Bool {
    let tracks = state.withLock { state in
      if state.tracks.isEmpty { state.task = nil }
      return state.tracks
    }
    guard !tracks.isEmpty else { return false }
    let duration = await roundTrip()
    for track in tracks {
      guard let statistics = await track.measure(roundTrip: duration, after: Self.shortestInterval),
        !Task.isCancelled
      else { continue }
      tell(.statisticsUpdated(track, statistics))
    }
    return true
  }
}
