import MediaCore

/// What is known of one published track, and what is wanted of it.
struct Subscription: Sendable {
  /// What the program wants.
  struct Wish: Hashable, Sendable {
    enum Want: Sendable {
      case no
      case yes
      /// For the outputs that need it alone: without them it is not.
      case forHolders
    }

    /// What a server knows of it.
    enum Knowledge: Hashable, Sendable {
      case settled
      /// It has changed while there was no connection to tell it on; what was told before may have been lost, too.
      case untold(isUncertain: Bool)
      /// It was told on the connection that stands: if that is lost, it may have been lost, too.
      case uncertain
    }

    fileprivate(set) var want: Want
    /// Outputs that need it.
    fileprivate(set) var holders = 0
    /// Those of them that take all there is.
    fileprivate(set) var wholeHolders = 0
    fileprivate(set) var knowledge = Knowledge.settled

    var isWanted: Bool { want != .no }
    var isUntold: Bool { if case .untold = knowledge { true } else { false } }
    var isUncertain: Bool { knowledge == .uncertain || knowledge == .untold(isUncertain: true) }
  }

  /// What stands against having it.
  struct Objections: Sendable {
    /// Of the publisher, and whether the program was told since it wants it.
    enum Permission: Sendable, Hashable {
      case given
      case denied(isTold: Bool)
    }

    fileprivate(set) var permission = Permission.given
    /// The signalling connection was lost since, and with it perhaps what gave the permission back.
    fileprivate(set) var isDoubtful = false
    /// Why it cannot be had in the form in which it is published, and whether that was told since it is wanted.
    fileprivate var refused: (reason: LiveKitError, isTold: Bool)?

    var isAllowed: Bool { permission == .given }
    var refusal: LiveKitError? { refused?.reason }

    /// Whoever wants it again is told again.
    fileprivate mutating func forgetTelling() {
      if !isAllowed { permission = .denied(isTold: false) }
      refused?.isTold = false
    }
  }

  /// As they were set last, and as the server was told; nil when it may have others.
  struct Settings: Hashable, Sendable {
    var wanted = TrackSettings()
    var told: TrackSettings?
    /// Whether its media has come in this session.
    private var hasBegun = false

    /// Its media comes. Of what has come before, a server may have kept what it was told then: LiveKit's does where a
    /// subscription begins anew before it has forgotten the last one.
    /// - Parameter initial: how a server begins by itself; nil when that is its own choice.
    mutating func begin(with initial: TrackSettings?) {
      told = hasBegun ? nil : initial
      hasBegun = true
    }

    /// Its media goes on in another session, or in another codec.
    mutating func resume() { hasBegun = true }

    /// The session has ended, and with it what its server knows.
    fileprivate mutating func interrupt() { hasBegun = false }
  }

  /// How it arrives, and what that leaves of what is wanted; only where audio fallback is on.
  struct Arrival: Sendable {
    var losses = LossWindow()
    /// Of the frames that renderers would have got, those that the decoder was too slow for.
    var decoding = LossWindow(fewest: 10)
    var fallback = AudioFallback()
  }

  struct Stream: Hashable, Sendable {
    let media: ObjectIdentifier
    /// Whether its media is to come, and whether it was told as lost.
    var isExpected = false
    var isLost = false
  }

  enum Media: Hashable, Sendable {
    case none
    case live(Stream)
    /// Of a session that has ended: its track waits for the next one.
    case interrupted(Stream)
  }

  let identity: String
  var info: TrackInfo
  private(set) var wish: Wish
  var objections = Objections()
  var settings = Settings()
  var media = Media.none
  /// Of which the server was told that nobody wants it, while it comes all the same.
  var dismissed: ObjectIdentifier?
  /// It is known from a session that has ended, and in the new one it has not been published yet.
  var isAbsent = false
  var arrival = Arrival()
  /// What the server said last of the way to here.
  var serverState = StreamState.unknown
  /// As it was told.
  var streamState = StreamState.unknown
  var obstacles = VideoObstacles()

  init(_ info: TrackInfo, of identity: String, isWanted: Bool) {
    (self.info, self.identity) = (info, identity)
    wish = Wish(want: isWanted ? .yes : .no)
  }

  var sid: String { info.sid }

  // MARK: Media

  var stream: Stream? {
    get {
      switch media {
      case .none: nil
      case .live(let stream), .interrupted(let stream): stream
      }
    }
    set {
      switch (media, newValue) {
      case (.live, let stream?): media = .live(stream)
      case (.interrupted, let stream?): media = .interrupted(stream)
      default: break
      }
    }
  }
  var isSubscribed: Bool { stream != nil }
  var isInterrupted: Bool { if case .interrupted = media { true } else { false } }

  /// The session of its media has ended.
  mutating func interrupt() {
    isAbsent = true
    dismissed = nil
    settings.interrupt()
    wish.knowledge = wish.isUntold ? .untold(isUncertain: false) : .settled
    if let stream { media = .interrupted(stream) }
  }

  /// Nothing more is waited for.
  mutating func resolve() {
    if case .interrupted(let stream) = media { media = .live(stream) }
  }

  /// - Returns: whether that is news of media that comes.
  mutating func set(isLost: Bool) -> Bool {
    guard let old = stream?.isLost, old != isLost else { return false }
    stream?.isLost = isLost
    return true
  }

  // MARK: Wishes

  mutating func want(_ isWanted: Bool) { set(isWanted ? .yes : .no) }

  /// What was wanted before holds again; who holds it does so still.
  mutating func want(again earlier: Wish) { set(earlier.want) }

  private mutating func set(_ want: Wish.Want) {
    wish.want = want
    if want == .no { objections.forgetTelling() }
  }

  /// - Returns: whether it is wanted only since.
  mutating func hold(_ need: OutputNeed) -> Bool {
    count(need, 1)
    guard !wish.isWanted else { return false }
    set(.forHolders)
    return true
  }

  /// - Returns: whether it is not wanted any more.
  mutating func release(_ need: OutputNeed) -> Bool {
    count(need, -1)
    guard wish.holders == 0, wish.want == .forHolders else { return false }
    set(.no)
    return true
  }

  private mutating func count(_ need: OutputNeed, _ change: Int) {
    wish.holders += change
    if need == .everything { wish.wholeHolders += change }
  }

  /// It cannot be told now.
  mutating func postpone() { wish.knowledge = .untold(isUncertain: wish.isUncertain) }

  /// It is told now.
  mutating func tell() { wish.knowledge = .uncertain }

  /// Nobody doubts any more what a server knows.
  mutating func settle() { wish.knowledge = .settled }

  // MARK: Objections

  /// - Returns: whether the program is to be told that what it wants is not allowed.
  mutating func set(isAllowed: Bool) -> Bool {
    objections.isDoubtful = false
    let wasTold = objections.permission == .denied(isTold: true)
    objections.permission = isAllowed ? .given : .denied(isTold: wish.isWanted)
    return !isAllowed && wish.isWanted && !wasTold
  }

  /// What is forbidden may be allowed again, and nobody has heard of it.
  mutating func doubtPermission() { objections.isDoubtful = !objections.isAllowed }

  /// - Returns: whether the program is to be told: once, if it wants it.
  mutating func refuse(for error: LiveKitError) -> Bool {
    let wasTold = objections.refused?.isTold == true
    objections.refused = (error, wish.isWanted)
    return wish.isWanted && !wasTold
  }

  mutating func accept() { objections.refused = nil }

  // MARK: Settings

  /// What the program, or those who show or hear the track, want of it; nil while it is not subscribed.
  /// - Parameter demand: what renderers need; nil where they do not decide.
  func wantedSettings(_ demand: TrackDemand?) -> TrackSettings? {
    guard isSubscribed else { return nil }
    guard let demand else { return settings.wanted }
    return wish.wholeHolders > 0 ? TrackSettings() : demand.settings
  }

  /// What the server is to be told; nil while the track is not subscribed.
  func settingsToTell(_ demand: TrackDemand?) -> TrackSettings? {
    var wanted = wantedSettings(demand)
    wanted?.restriction = arrival.fallback.restriction
    return wanted
  }

  /// Whether the server was told to send nothing of it.
  var isDisabled: Bool { settings.told?.applied.isEnabled == false }

  /// Whether media is to come, by what the server was told and says.
  var course: (isEnabled: Bool, isPaused: Bool, isExpected: Bool) {
    let told = settings.told ?? TrackSettings()
    let isPaused = serverState == .paused || told.restriction == .noVideo
    return (told.isEnabled, isPaused, told.isEnabled && !isPaused && !info.isMuted)
  }

  /// What is to be told of it now: what has been paused and goes on is active, also where the server says nothing.
  var currentStreamState: StreamState {
    guard course.isExpected, stream?.isLost != true else { return .paused }
    guard serverState == .unknown else { return serverState }
    return streamState == .paused ? .active : streamState
  }

  // MARK: Arrival

  /// Whether too much of it is lost.
  var isPoor: Bool { isSubscribed && arrival.losses.loss.map { $0 >= AudioFallback.heavyLoss } ?? false }

  /// Whether too many of its frames come too fast for the decoder.
  private var isTooFast: Bool { isSubscribed && arrival.decoding.loss.map { $0 >= AudioFallback.heavyLoss } ?? false }

  /// Whether too much of it is lost, or it is being tried: one track at a time is.
  func strains(at time: MediaTime) -> Bool {
    isPoor || isTooFast || isSubscribed && arrival.fallback.isTrying(at: time)
  }
}
