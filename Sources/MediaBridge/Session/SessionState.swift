import LiveKitProtocol
import MediaCore
import PeerTransport
import SignalTransport

/// One participant's stay in a room: its session, those that follow it when it is lost, and what it knows and wants of
/// tracks. No clock and no I/O: events and times come in, what is to be done comes out.
///
/// The shell calls `poll` when `nextDeadline` has passed. Nothing comes out after the end.
struct SessionState: Sendable {
  struct Options: Sendable {
    var autoSubscribe = true
    var usesAdaptiveStream = true
    var usesAudioFallback = false
    var connect = ConnectOptions()
    /// For messages.
    var server = ""
    /// A number between 0 and 1, another one each time.
    var chance: @Sendable () -> Double = { .random(in: 0...1) }
  }

  enum Phase: Sendable {
    case idle
    /// The first session is being made.
    case joining(Attempt)
    case standing(Standing)
    /// The connection is lost, and tried again at that time.
    case waiting(Recovery, until: MediaTime)
    case recovering(Recovery, Attempt)
    case ended
  }

  /// A session that is being made or resumed.
  struct Attempt: Sendable {
    /// When it has failed; nil while the signalling connection is being opened.
    var deadline: MediaTime?
    /// The server has let us in, or said that the session goes on.
    var isSignalled = false
  }

  /// A session that stands.
  struct Standing: Sendable {
    /// When the connection was brought back; nil where it was never lost.
    var since: MediaTime?
    /// How often it was lost since it was steady.
    var losses = 0
    /// When what has not come back in a new session is given up.
    var returnLimit: MediaTime?
  }

  /// How a lost connection is brought back.
  struct Recovery: Sendable {
    var mode: ReconnectMode
    var delays: ReconnectDelays
    /// Why the newest attempt has failed, at first why the connection was lost.
    var cause: LiveKitError
    /// What was lost at first.
    let reason: ReconnectReason
    /// When it was lost.
    let since: MediaTime
    /// How often the connection was lost since it was steady.
    let losses: Int
    /// Until when the first session has to stand; nil where one has stood.
    var limit: MediaTime?

    var isOfFirstSession: Bool { limit != nil }
    func mayBegin(at time: MediaTime) -> Bool { limit.map { time < $0 } ?? true }
  }

  /// The transport of the media.
  struct MediaLink: Sendable {
    var isConnected = false
    /// Which connection stands for the session and has the messages, as the join says: the one on which the server
    /// sends media, or, where it may send none, the one on which we do.
    var isSubscriberPrimary = true
    /// The newest offer and our answer to it.
    var negotiation: SessionEvent.Negotiation?
    /// What this process publishes, which a server that goes on with the session is told.
    var published: [Livekit_TrackPublishedResponse] = []
    /// What became of the connection on which that is sent, where it is not the primary one; nil while it is well.
    var publisherLoss: PublisherLoss?
    /// When it counts as lost, after the server has ended it: until then the server may say why.
    var farewell: MediaTime?

    /// Whether a server that goes on with the session offers to restart ICE: on a connection on which it offers at all,
    /// and LiveKit's does so behind the list of who is there (`ResumeParticipant`).
    var isRestartedByOffer: Bool { isSubscriberPrimary || negotiation != nil }
  }

  private(set) var options: Options
  /// This participant, as the server has it.
  var ourselves = Livekit_ParticipantInfo()
  var phase = Phase.idle
  var link = MediaLink()
  /// Of the connection on which we send, where it is not the primary one, since it was connected last.
  var publisherFailures = 0
  var roster = Roster()
  var settings = SettingsSchedule()
  /// What the server is to begin to send.
  var awaited = SubscriptionWatch()
  /// What the call that is under way has found out.
  var actions: [SessionAction] = []

  init(_ options: Options) { self.options = options }

  var isEnded: Bool { if case .ended = phase { true } else { false } }

  var isRecovering: Bool {
    switch phase {
    case .waiting, .recovering: true
    default: false
    }
  }

  // MARK: The one place that changes it

  mutating func handle(_ event: SessionEvent, at now: MediaTime) -> [SessionAction] {
    guard !isEnded else { return [] }
    switch event {
    case .connect(let server):
      options.server = server
      attempt(nil)
    case .end(let error): end(error)
    case .opened: opened(at: now)
    case .openFailed(let failure): attemptFailed(failure, at: now)
    case .signalEnded(let failure): failed(failure, at: now)
    case .secondaryTransport(let state): lost(state, .subscriberFailed, at: now)
    case .publisher(let state): publisherChanged(state, at: now)
    case .publisherNeeded(let isForTrack): publisherNeeded(forTrack: isForTrack)
    case .published(let tracks): published(tracks)
    case .response(let message): received(message, at: now)
    case .transport(let state): changed(state, at: now)
    case .answered(let negotiation): answered(negotiation)
    case .offerRefused(let error): failed(SessionFailure(error, remedy: .full), at: now)
    case .media(let media, let continuing): match(media, continuing: continuing, at: now)
    case .stream(let sid, let change): changed(change, sid, at: now)
    case .decoder(let sid, let error): decoderChanged(error, sid)
    case .measured(let measurements): measured(measurements, at: now)
    case .want, .hold, .release, .configure, .configurationFailed, .demandChanged, .confirmed, .unconfirmed:
      asked(event, at: now)
    }
    followSubscriptions(at: now)
    return takeActions()
  }

  /// When `poll` has something to do.
  var nextDeadline: MediaTime? {
    guard !isEnded else { return nil }
    let own: MediaTime? =
      switch phase {
      case .joining(let attempt), .recovering(_, let attempt): attempt.deadline
      case .standing(let standing): standing.returnLimit
      case .waiting(_, let until): until
      case .idle, .ended: nil
      }
    return [own, link.farewell, publisherDeadline, settings.nextDeadline, awaited.nextDeadline].compactMap { $0 }.min()
  }

  /// - Parameter demand: what renderers need of a track now.
  mutating func poll(at now: MediaTime, _ demand: (String) -> TrackDemand) -> [SessionAction] {
    guard !isEnded else { return [] }
    if let farewell = link.farewell, farewell <= now {
      link.farewell = nil
      failed(SessionFailure(LiveKitError(PeerError.closedByPeer), remedy: .full), at: now)
    }
    pollPublisher(at: now)
    pollConnection(at: now)
    if case .standing(let standing) = phase, let limit = standing.returnLimit, limit <= now { giveUpWaiting() }
    pollSettings(at: now, demand)
    followSubscriptions(at: now)
    pollSubscriptions(at: now)
    return takeActions()
  }

  private mutating func takeActions() -> [SessionAction] {
    defer { actions = [] }
    return actions
  }

  // MARK: Actions

  mutating func act(_ action: SessionAction.Connection) { actions.append(.connection(action)) }
  mutating func act(_ action: SessionAction.Member, _ identity: String) {
    actions.append(.member(identity: identity, action))
  }
  mutating func act(_ action: SessionAction.Track, _ sid: String) {
    guard let identity = roster.tracks[sid]?.identity else { return }
    actions.append(.track(identity: identity, sid: sid, action))
  }
  mutating func act(_ action: SessionAction.RoomState) { actions.append(.room(action)) }
  mutating func tell(_ news: SessionAction.News, _ sid: String) { act(.tell(news), sid) }

  /// Changes what is known of a track, and lets its publication say so.
  /// - Returns: what `body` does; nil when there is no such track.
  @discardableResult
  mutating func change<Result>(_ sid: String, _ body: (inout Subscription) -> Result) -> Result? {
    guard var subscription = roster.tracks[sid] else { return nil }
    let result = body(&subscription)
    roster.tracks[sid] = subscription
    act(.show(subscription), sid)
    return result
  }
}
