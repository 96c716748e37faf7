import PeerTransport
import SignalTransport

/// The connections of a session, and what is under way on them. Its session's only.
struct SessionLink {
  /// Nil before the room is connected.
  var client: SignalClient?
  var transport: SubscriberTransport?
  /// Whether it was told that the way to it is narrow.
  var isDownlinkLimited = false
  /// Nil until something is sent, or it is the primary one.
  var publisher: PublisherTransport?
  var ways = MediaWays()
  /// What the transport carries, as the state knows it, by track SID.
  var media: [String: TrackMedia] = [:]
  /// Opens a signalling connection, and reads it until it ends.
  var reader: Task<Void, Never>?
  /// Asks the transport what it carries.
  var matching: Task<Void, Never>?
  private var closing: ClosingTransports

  /// - Parameter patience: how long transports are waited for that do not end.
  init(patience: Duration = ClosingTransports.patience) { closing = ClosingTransports(patience: patience) }

  /// Begins to close the transports.
  mutating func dropTransport() {
    guard transport != nil || publisher != nil else { return }
    closing.add(transport?.stops) { [transport, publisher] in
      // An encoder may take as long to stop as a decoder.
      let sending = Task { await publisher?.close() }
      await transport?.close()
      _ = await sending.value
    }
    (transport, publisher, media) = (nil, nil, [:])
  }

  /// Returns when neither a thread nor a socket of earlier transports is left, or ten seconds after they were dropped.
  /// - Returns: whether nothing is left.
  func isDropped() async -> Bool { await closing.areGone() }

  /// The SIDs of tracks of earlier sessions that have not stopped yet.
  var unstopped: [String] { closing.tracks }

  /// Returns when nothing is left, or ten seconds after the transports were dropped.
  /// - Returns: whether nothing is left.
  mutating func beginClosing() -> Task<Bool, Never> {
    reader?.cancel()
    dropTransport()
    client?.retire()
    return Task { [client, reader, matching, closing] in
      let isGone = await closing.areGone()
      if isGone {
        // These may be waiting for what hangs.
        await reader?.value
        await matching?.value
      }
      await client?.close()
      return isGone
    }
  }
}
