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
  private var dropping: Task<Void, Never>?

  /// Begins to close the transports.
  mutating func dropTransport() {
    guard transport != nil || publisher != nil else { return }
    dropping = Task { [earlier = dropping, transport, publisher] in
      await earlier?.value
      await publisher?.close()
      await transport?.close()
    }
    (transport, publisher, media) = (nil, nil, [:])
  }

  /// Returns when neither a thread nor a socket of earlier transports is left.
  func untilDropped() async { await dropping?.value }

  /// Returns when nothing is left.
  mutating func beginClosing() -> Task<Void, Never> {
    reader?.cancel()
    dropTransport()
    client?.retire()
    return Task { [client, reader, matching, dropping] in
      await dropping?.value
      await reader?.value
      await matching?.value
      await client?.close()
    }
  }
}
