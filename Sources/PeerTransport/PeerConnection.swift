import MediaCore
public import RTP
public import SDP

/// The transport of one bundle: ICE, DTLS, SRTP and data channels over one component. What is negotiated on top of
/// it (SDP) is the caller's.
///
/// Everything happens on `loop`; methods may be called from any thread and post when they are not on it.
public final class PeerConnection: Sendable {
  /// Where all of it happens.
  public let loop: TransportLoop
  private let core: LoopBound<PeerCore>

  /// - Parameter delegate: held weakly and called on the loop.
  public init(loop: TransportLoop, configuration: PeerConfiguration, delegate: any PeerConnectionDelegate) {
    self.loop = loop
    core = LoopBound(PeerCore(loop: loop, configuration: configuration, delegate: delegate), on: loop)
    loop.run { [self] in core.value.owner = self }
  }

  /// What the peer has to be told of this end. Candidates follow through the delegate.
  public func localParameters(setup: Setup) async -> TransportParameters? {
    await loop.call { [core] in core.value.localParameters(setup: setup) }
  }

  /// The same for the answer to an offer that `remote` was read from: new credentials if it restarts ICE.
  public func localParameters(answering remote: TransportParameters, setup: Setup) async -> TransportParameters? {
    await loop.call { [core] in core.value.localParameters(answering: remote, setup: setup) }
  }

  /// The same on the loop's thread.
  public func localParametersOnLoop(answering remote: TransportParameters, setup: Setup) -> TransportParameters? {
    core.value.localParameters(answering: remote, setup: setup)
  }

  /// The same on the loop's thread.
  public func localParametersOnLoop(setup: Setup) -> TransportParameters? { core.value.localParameters(setup: setup) }

  /// Starts to connect. Called again with other ICE credentials, it restarts ICE and keeps the session; a source that the
  /// peer announces no more has ended, and does not come again.
  /// - Parameter isDTLSClient: true when this end answered `active`.
  public func connect(to remote: TransportParameters, isDTLSClient: Bool) {
    loop.run { [core] in core.value.connect(to: remote, isDTLSClient: isDTLSClient) }
  }

  /// Makes new local ICE credentials (RFC 8445, 9), to be sent in the next description.
  public func restartICE() { loop.run { [core] in core.value.restartICE() } }

  /// Names other servers for the next restart of ICE: what they want to be told may be good for some minutes only, and
  /// another way may have to go through them.
  public func use(_ servers: ICEServers) { loop.run { [core] in core.value.use(servers) } }

  /// A candidate of the peer as the value of an SDP attribute; what cannot be read is passed over.
  public func add(remoteCandidate: String) {
    loop.run { [core] in core.value.add(remoteCandidate: remoteCandidate) }
  }

  /// Encrypts and sends a packet; `packet` itself stays as it is. Dropped without a connection.
  public func send(_ packet: RTPPacket) { loop.run { [core] in core.value.send(packet) } }

  /// The same on the loop's thread.
  public func sendOnLoop(_ packet: RTPPacket) { core.value.send(packet) }

  /// Sends one compound packet. Dropped without a connection.
  public func send(_ reports: [RTCPPacket]) {
    if !reports.isEmpty { loop.run { [core] in core.value.send(reports) } }
  }

  /// Opens a data channel, at once or when the association is up.
  public func openDataChannel(label: String, isOrdered: Bool = true, maxRetransmits: UInt32? = nil) {
    loop.run { [core] in
      core.value.open(.init(isOrdered: isOrdered, maxRetransmits: maxRetransmits, label: label))
    }
  }

  /// Sends one message. Dropped when the channel is not open or its queue is full.
  public func send(_ message: [UInt8], isText: Bool = false, on channel: DataChannel) {
    loop.run { [core] in core.value.send(message, isText: isText, on: channel) }
  }

  /// The same on the loop's thread.
  /// - Returns: whether it was taken: the channel is open, and its queue not full.
  public func sendsOnLoop(_ message: [UInt8], isText: Bool = false, on channel: DataChannel) -> Bool {
    core.value.send(message, isText: isText, on: channel)
  }

  /// Whether the peer has acknowledged all messages that were sent.
  public func isAcknowledged() async -> Bool { await loop.call { [core] in core.value.isAcknowledged } }

  /// Sends the peer something to answer at once, and returns how long the newest such answer took: nil until the first
  /// has come, so that whoever calls this regularly has the time as it was the call before.
  public func measureRoundTrip() async -> Duration? {
    await loop.call { [core] in core.value.measureRoundTrip() }
  }

  /// The same on the loop's thread.
  public func measureRoundTripOnLoop() -> Duration? { core.value.measureRoundTrip() }

  /// Asks as `measureRoundTrip` does until it is answered.
  /// - Returns: whether it was, in that time; true where the peer cannot be asked, as without data channels.
  public func isAnswered(within limit: Duration) async -> Bool {
    let start = MediaTime.now
    while !Task.isCancelled {
      _ = await measureRoundTrip()
      guard await loop.call({ [core] in core.value.isAnswered(since: start) }) == false else { return true }
      guard MediaTime.now - start < limit else { return false }
      try? await Task.sleep(for: Self.answerInterval)
    }
    return true
  }

  private static let answerInterval = Duration.milliseconds(100)

  /// Ends everything. No delegate call comes after it returned. To be called before the loop is stopped; again, it does
  /// nothing.
  public func close() async {
    await withCheckedContinuation { continuation in
      let isRunning = loop.run { [core] in core.value.close { continuation.resume() } }
      if !isRunning { continuation.resume() }
    }
  }
}
