import MediaCore

/// Tracks that are being stopped, all at once. One that comes anew under its SID has to wait for that: its
/// participant's timeline knows it by its SID.
struct TrackStops {
  private let underWay = Locked<[ObjectIdentifier: (sid: String, stop: Task<Void, Never>)]>([:])

  /// Begins to close it.
  func begin(_ media: TrackMedia) { begin(media, media.trackSid) { await media.close() } }

  /// - Parameter stop: ends what `object` stands for.
  func begin(_ object: some AnyObject & Sendable, _ sid: String, _ stop: @escaping @Sendable () async -> Void) {
    // Nobody ends before it is noted that it is being stopped.
    underWay.withLock { stops in
      let task = Task { [underWay] in
        await stop()
        _ = underWay.withLock { $0.removeValue(forKey: ObjectIdentifier(object)) }
      }
      stops[ObjectIdentifier(object)] = (sid, task)
    }
  }

  /// What ends when nothing of that track is left; nil where nothing is.
  func ended(_ sid: String) -> Task<Void, Never>? {
    underWay.withLock { stops in stops.values.first { $0.sid == sid }?.stop }
  }

  /// Of which something is left.
  var sids: [String] { underWay.withLock { Set($0.values.map(\.sid)).sorted() } }

  var all: [Task<Void, Never>] { underWay.withLock { $0.values.map(\.stop) } }
}
