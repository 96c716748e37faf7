import LiveKitProtocol
import PeerTransport
import SDP

/// What happens to a session. Whoever runs it leaves out what comes from a connection that another one has replaced.
enum SessionEvent: Sendable {
  /// The program connects.
  case connect(server: String)
  /// It leaves, or nothing can go on.
  case end(LiveKitError?)

  /// The signalling connection that was asked for stands, or cannot be made.
  case opened
  case openFailed(SessionFailure)
  /// The server says something that concerns the session or its tracks.
  case response(Livekit_SignalResponse.OneOf_Message)
  case signalEnded(SessionFailure)

  /// Of the primary connection of media.
  case transport(PeerState)
  /// Of the one on which we receive, where it is not the primary one.
  case secondaryTransport(PeerState)
  /// Of the one on which we send, where it is not the primary one; something is to be sent on it.
  case publisher(PeerState)
  case publisherNeeded(forTrack: Bool)
  /// An offer of the server was taken, or cannot be.
  case answered(Negotiation)
  case offerRefused(LiveKitError)
  /// What this process publishes now.
  case published([Livekit_TrackPublishedResponse])
  /// What the newest description carries, by track SID.
  /// - Parameter continuing: those that are the same stream as what came of their track before, in another codec.
  case media([String: ObjectIdentifier], continuing: Set<ObjectIdentifier> = [])
  case stream(sid: String, MediaTimeout.Change)
  /// What arrives cannot be decoded or shown; nil when a decoder begins.
  case decoder(sid: String, LiveKitError?)
  /// How tracks arrive, each second while audio fallback is on.
  case measured([String: Measurement])

  /// The program asks for a track, or no longer.
  case want(sid: String, Bool)
  /// An output needs a track, or no longer.
  case hold(sid: String, OutputNeed)
  case release(sid: String, OutputNeed)
  /// The program asks for other settings.
  case configure(sid: String, TrackSettings)
  case configurationFailed(sid: String)
  /// Renderers need something else.
  case demandChanged(sid: String)
  /// A request has left, or cannot.
  case confirmed(SessionAction.Confirmation)
  case unconfirmed(SessionAction.Confirmation)

  /// An offer and our answer to it.
  struct Negotiation: Sendable {
    let id: UInt32
    let offer: String
    let answer: String

    /// Whether the offer begins ICE anew (RFC 8839, 4.4.1.1.1), as the first one does.
    func restartsICE(after earlier: Negotiation?) -> Bool { earlier.map { $0.iceUfrag != iceUfrag } ?? true }

    private var iceUfrag: String? { (try? SessionDescription(parsing: offer))?.bundleTransport?.iceUfrag }
  }

  /// How one track arrives, and what those who show or hear it need.
  struct Measurement: Sendable {
    let media: ObjectIdentifier
    let count: LossWindow.Count
    /// Frames that renderers got, and those for which the decoder was too slow.
    var decoding = LossWindow.Count(delivered: 0, lost: 0)
    let demand: TrackDemand
  }
}
