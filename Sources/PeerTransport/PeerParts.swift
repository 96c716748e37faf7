import MediaCore

/// Who is told what happens on a connection.
struct PeerListener {
  weak var delegate: (any PeerConnectionDelegate)?
  weak var owner: PeerConnection?
}

/// The agent, and what both sides have said of their candidates. Pure but for the agent, which only its owner calls.
struct ICESession {
  /// Nil before the first thing is asked of it, and after the end.
  var agent: ICEAgent?
  private(set) var remote: TransportParameters?
  private var isGathering = false
  /// ICE was restarted and the peer's part of it is still to come.
  private var hasNewCredentials = false

  /// Whether the peer has begun anew (RFC 8839, 4.4.1.1).
  func isRestarted(by parameters: TransportParameters) -> Bool {
    remote.map { $0.iceUfrag != parameters.iceUfrag } ?? false
  }

  /// The same, where this side has not done so yet.
  func isToRestart(for parameters: TransportParameters) -> Bool {
    isRestarted(by: parameters) && !hasNewCredentials
  }

  /// Candidates are gathered anew.
  mutating func restarts() { (hasNewCredentials, isGathering) = (true, false) }

  mutating func accept(_ parameters: TransportParameters) { (remote, hasNewCredentials) = (parameters, false) }

  /// - Returns: false where it has begun already.
  mutating func beginsToGather() -> Bool {
    defer { isGathering = true }
    return !isGathering
  }
}

/// What encrypts.
struct PeerSecurity {
  /// From the first connection of ICE on.
  var dtls: DTLSTransport?
  /// From the end of its handshake on.
  var srtp: SRTPSession?
  var isClient = true

  var isUp: Bool { srtp != nil }
}

/// The association of the data channels.
struct PeerChannels {
  var sctp: SCTPTransport?
  /// Both sides have described data channels, at once or later on.
  var areNegotiated = false
  /// Asked for before there is an association.
  var requests: [DCEP.Open] = []

  mutating func takeRequests() -> [DCEP.Open] {
    defer { requests = [] }
    return requests
  }
}

/// The way that packets take, and whether something still comes on it.
struct PeerPath {
  /// The candidate pair in use, in words.
  var pair = "no candidate pair"
  var timer: LoopTimer?
  /// From the end of the handshake on.
  private var watch: PathWatch?

  mutating func begin(at time: MediaTime) {
    if watch == nil { watch = PathWatch(at: time) }
  }

  /// What was heard on the one before counts no more.
  mutating func isAnother(at time: MediaTime) {
    if watch != nil { watch = PathWatch(at: time) }
  }

  mutating func heard(at time: MediaTime) { watch?.heard(at: time) }

  mutating func look(at time: MediaTime) -> PathWatch.Verdict? { watch?.look(at: time) }
}
