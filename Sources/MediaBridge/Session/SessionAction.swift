import LiveKitProtocol
import SignalTransport

/// What is to be done for a session, in order. None of it can fail here: what comes of it is another event.
enum SessionAction: Sendable {
  case connection(Connection)
  case member(identity: String, Member)
  case track(identity: String, sid: String, Track)
  /// The room is in another state, which the program is told.
  case room(RoomState)

  enum Connection: Sendable {
    /// Closes the signalling connection and opens another one; a full one closes the media's transport, too, and a
    /// quick one tells the server what was lost.
    case open(ReconnectMode, ReconnectReason)
    /// The room as the join describes it; at the first one nobody has to be told that it changed.
    case learn(Livekit_JoinResponse, isFirst: Bool)
    /// What the server says of us since.
    case learnOurselves(Livekit_ParticipantInfo)
    /// The room is another one from now on.
    case move(Livekit_RoomMovedResponse)
    case makeTransport(Livekit_JoinResponse)
    case send(Livekit_SignalRequest)
    /// Sends, and says whether it has left.
    case confirm(Livekit_SignalRequest, Confirmation)
    /// All settings that were due are on their way.
    case settingsTold
    /// Ask the transport what it carries.
    case matchTracks
    /// Codecs of published tracks are others: tell the transport, then match.
    case learnCodecs
    /// Begin to measure how tracks arrive.
    case watchCongestion
  }

  enum Member: Sendable {
    case meet(Livekit_ParticipantInfo)
    case learn(Livekit_ParticipantInfo)
    case leave
    case publish(Subscription)
    /// A track has another SID in this session.
    case rename(from: String, to: String)
  }

  enum Track: Sendable {
    /// What the publication says of itself from now on.
    case show(Subscription)
    case unpublish
    /// Its media is there: make a track of it, or let the track go on with it.
    case begin
    case resume
    case end
    /// Media is to come, or not.
    case expect(Bool)
    /// It was told as lost: its first packet restores it.
    case noteLoss
    /// Audio fallback asks for less of it, or for more.
    case restricted(VideoRestriction)
    case tell(News)
  }

  /// What the program is told of a track.
  enum News: Sendable {
    case muted(Bool)
    case allowed(Bool)
    case streamState(StreamState)
    case disabled(VideoChangeReason)
    case enabled(VideoChangeReason)
    case codecChanged
    case lost
    case restored
    case failed(LiveKitError)
  }

  enum RoomState: Sendable {
    case connected
    /// - Parameter isNew: whether the connection was there until now.
    case reconnecting(ReconnectMode, isNew: Bool, because: LiveKitError)
    case reconnected(ReconnectMode)
    case ended(LiveKitError?)
  }

  /// A request of which the session wants to know whether it has left.
  enum Confirmation: Sendable {
    /// - Parameter earlier: what the program wanted before, if that is to hold again when this fails.
    case subscription(sid: String, earlier: Subscription.Wish?)
    /// - Parameter earlier: what the server had been told before.
    case settings(SettingsSchedule.Message, earlier: [String: TrackSettings?])
  }
}

/// What is to be done, in order: what is found out on the way is done afterwards.
struct ActionQueue {
  private var pending: ArraySlice<SessionAction> = []
  private var isPerforming = false

  mutating func add(_ actions: [SessionAction]) { pending += actions }

  /// - Returns: false where somebody performs already, who comes to it.
  mutating func begin() -> Bool {
    defer { isPerforming = true }
    return !isPerforming
  }

  /// - Returns: nil once all is done.
  mutating func next() -> SessionAction? {
    let action = pending.popFirst()
    isPerforming = action != nil
    return action
  }
}
