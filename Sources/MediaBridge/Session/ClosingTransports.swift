import MediaCore

/// The transports of earlier sessions, on their way out. They share nothing but the machine with those of the next
/// session, so that one which does not end holds it up for a while only.
struct ClosingTransports: Sendable {
  /// How long the next session waits for them.
  private let patience: Duration
  /// Settled when nothing is left of any, and until when the next session waits for that.
  private var last: (end: Outcome<Void, LiveKitError>, limit: MediaTime)?
  private var stops: [TrackStops] = []

  init(patience: Duration = .seconds(10)) { self.patience = patience }

  /// Begins to close some.
  /// - Parameters:
  ///   - stops: of their tracks.
  ///   - close: returns when nothing is left of them.
  mutating func add(_ stops: TrackStops?, _ close: @escaping @Sendable () async -> Void) {
    let end = Outcome<Void, LiveKitError>()
    Task { [earlier = last?.end] in
      await close()
      _ = await earlier?.result()
      end.settle(.success(()))
    }
    last = (end, .now + patience)
    self.stops = self.stops.filter { !$0.sids.isEmpty } + [stops].compactMap(\.self)
  }

  /// Returns when neither a thread nor a socket is left of them, or it was waited for that for long enough.
  /// - Returns: whether nothing is left.
  func areGone() async -> Bool {
    guard let last else { return true }
    let late = LiveKitError(.timedOut, "an earlier session has not ended")
    let result = await last.end.result(within: last.limit - .now, else: late)
    return if case .success = result { true } else { false }
  }

  /// Returns when nothing is left of them, however long that takes.
  func untilGone() async { _ = await last?.end.result() }

  /// The SIDs of those tracks that have not stopped yet.
  var tracks: [String] { stops.flatMap(\.sids) }
}
