import MediaCore

/// Who is told what happens on a connection.
struct PeerListener {
  weak var delegate: (any PeerConnectionDelegate)?
  weak var owner: PeerConnection?
}

/// The agents, and what the peer has said of itself. Pure but for the agents, which only its owner calls.
struct ICESession {
  /// Nil before the first thing is asked of it, and after the end.
  var agent: ICEAgent?
  /// What ICE was restarted for: it carries packets until the new one has connected.
  private(set) var former: ICEAgent?
  /// Whether `agent` has found a way.
  private(set) var isConnected = false
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

  /// Whether they are of a peer with another certificate.
  func isOther(_ parameters: TransportParameters) -> Bool {
    remote.map { Set($0.fingerprints).isDisjoint(with: parameters.fingerprints) } ?? false
  }

  /// What packets go out by.
  var carrier: ICEAgent? { former ?? agent }

  /// Credentials and candidates are to be those of a new agent.
  /// - Returns: what carries nothing, and is to be closed.
  mutating func restarts() -> ICEAgent? {
    (hasNewCredentials, isGathering) = (true, false)
    // A server that has restarted sends nothing through the former relay, and counts it among those it allows.
    let isKept = isConnected && agent?.isRelayed == false
    let unused = isKept ? nil : agent
    if isKept { former = agent }
    (agent, isConnected) = (nil, false)
    former?.retire()
    return unused
  }

  /// `agent` has found a way.
  /// - Returns: what carries nothing any more, and is to be closed.
  mutating func connects() -> ICEAgent? {
    defer { (isConnected, former) = (true, nil) }
    return former
  }

  /// - Returns: what there is, to be closed.
  mutating func ends() -> [ICEAgent] {
    defer { (agent, former) = (nil, nil) }
    return [agent, former].compactMap(\.self)
  }

  mutating func accept(_ parameters: TransportParameters) { (remote, hasNewCredentials) = (parameters, false) }

  /// - Returns: false where it has begun already.
  mutating func beginsToGather() -> Bool {
    defer { isGathering = true }
    return !isGathering
  }
}

/// Agents on their way out: the loop has to run until the last of them has closed its sockets. Lives on the loop.
final class Farewells {
  private var count = 0
  private var completion: (() -> Void)?

  func close(_ agent: ICEAgent) {
    count += 1
    agent.close { [self] in
      count -= 1
      look()
    }
  }

  /// - Parameter completion: called at once where none is left.
  func whenAllAreClosed(_ completion: @escaping () -> Void) {
    self.completion = completion
    look()
  }

  private func look() {
    guard count == 0, let completion else { return }
    self.completion = nil
    completion()
  }
}

/// What encrypts.
struct PeerSecurity {
  /// From the first connection of ICE on.
  var dtls: DTLSTransport?
  /// From the end of its handshake on.
  var srtp: SRTPSession?
  var isClient = true
  private var announced: Set<SSRC> = []

  var isUp: Bool { srtp != nil }

  /// The peer's description names these sources. A server has new ones for each track, so what is named no more is let go
  /// of; not what is silent, which may go on.
  mutating func announce(_ sources: Set<SSRC>) {
    for source in announced.subtracting(sources) { srtp?.forget(source) }
    announced = sources
  }
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
