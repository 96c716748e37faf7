import MediaCore

/// The transports of earlier sessions, on their way out. They share nothing but the machine with those of the next
/// session, so that one which does not end holds it up for a while only, and so it is at the end of all.
struct ClosingTransports: Sendable {
  /// How long those who come behind them wait.
  static let patience = Duration.seconds(10)

  private let patience: Duration
  /// Settled when nothing is left of any, and until when that is waited for.
  private var last: (end: Outcome<Void, LiveKitError>, limit: MediaTime)?
  private var stops: [TrackStops] = []

  init(patience: Duration = ClosingTransports.patience) { self.patience = patience }

  /// Begins to close some.
  /// - Parameters:
  ///   - stops: of their tracks.
  ///   - close: returns when nothing is left of them.
  mutating func add(_ stops: TrackStops?, _ close: @escaping @Sendable () async -> Void) {
    let end = Outcome<Void, LiveKitError>.end { [earlier = last?.end] in
      await close()
      _ = await earlier?.result()
    }
    last = (end, .now + patience)
    self.stops = self.stops.filter { !$0.sids.isEmpty } + [stops].compactMap(\.self)
  }

  /// Returns when neither a thread nor a socket is left of them, or it was waited for that for long enough.
  /// - Returns: whether nothing is left.
  func areGone() async -> Bool {
    guard let last else { return true }
    return await last.end.comes(by: last.limit)
  }

  /// The SIDs of those tracks that have not stopped yet.
  var tracks: [String] { stops.flatMap(\.sids) }
}
