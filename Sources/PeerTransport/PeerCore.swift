import Logging
import MediaCore
import RTP
import SDP

/// The parts of a peer connection and how they feed each other. Lives on its loop.
final class PeerCore {
  private let loop: TransportLoop
  private var configuration: PeerConfiguration
  private var listener: PeerListener
  private var ice = ICESession()
  private var security = PeerSecurity()
  private var channels = PeerChannels()
  private var path = PeerPath()
  private var connectTimer: LoopTimer?
  private var restartTimer: LoopTimer?
  private let farewells = Farewells()
  private(set) var state = PeerState.new

  init(loop: TransportLoop, configuration: PeerConfiguration, delegate: any PeerConnectionDelegate) {
    self.loop = loop
    self.configuration = configuration
    listener = PeerListener(delegate: delegate)
  }

  /// Who is shown to the delegate; nothing is told without one.
  var owner: PeerConnection? {
    get { listener.owner }
    set { listener.owner = newValue }
  }

  private var logger: Logger { configuration.logger }

  // MARK: Description

  func localParameters(setup: Setup) -> TransportParameters? {
    guard let agent = agent(), let credentials = agent.localCredentials else { return nil }
    return TransportParameters(
      iceUfrag: credentials.ufrag, icePwd: credentials.pwd, fingerprints: [Certificate.shared.fingerprint],
      setup: setup)
  }

  /// The answer to a restart carries new credentials too (RFC 8839, 4.4.1.1), so they are made before it is written.
  func localParameters(answering parameters: TransportParameters, setup: Setup) -> TransportParameters? {
    if ice.isToRestart(for: parameters) { restartICE() }
    return localParameters(setup: setup)
  }

  func connect(to parameters: TransportParameters, isDTLSClient: Bool) {
    guard state != .closed else { return }
    let isFirst = ice.remote == nil
    security.announce(parameters.sources)
    if parameters.hasDataChannels { negotiatedDataChannels() }
    guard isFirst || ice.isRestarted(by: parameters) else { return }
    // Another server has taken the session over, which knows nothing of the keys.
    if security.isUp, ice.isOther(parameters) { return change(to: .failed(.closedByPeer)) }
    if ice.isToRestart(for: parameters) { restartICE() }
    ice.accept(parameters)
    agent()?.setRemote(parameters)
    startGathering()
    if isFirst {
      security.isClient = isDTLSClient
      change(to: .connecting)
      armConnectTimer()
    }
  }

  /// Credentials and candidates anew (RFC 8445, 9). An agent of libnice gathers once, and the addresses of this machine
  /// may be others by now: so it is another agent, below the same DTLS.
  func restartICE() {
    guard state != .closed else { return }
    if let unused = ice.restarts() { farewells.close(unused) }
    _ = agent()
    startGathering()
    // What has not connected begins anew.
    if state == .connecting { armConnectTimer() } else { armRestartTimer() }
  }

  /// The peer uses the former way no more, and may not say so: what comes of it is not to be waited for.
  private func armRestartTimer() {
    restartTimer?.cancel()
    let bound = LoopBound(Weak(self), on: loop)
    restartTimer = loop.after(Self.restartTimeout) {
      guard let core = bound.value.object, core.security.isUp, !core.ice.isConnected else { return }
      core.lostConsent()
    }
  }
  private static let restartTimeout = Duration.seconds(10)

  func use(_ servers: ICEServers) { configuration.servers = servers }

  /// Those of a restart come behind its description. What the peer named before, another agent is not told: it may be
  /// there still, and not be wanted any more. So LiveKit's server names no UDP once that has failed, and answers it.
  func add(remoteCandidate: String) { agent()?.add(remoteCandidate: remoteCandidate) }

  /// libnice attaches receiving before candidates exist, so the agent is made with the first thing asked of it.
  private func agent() -> ICEAgent? {
    if let agent = ice.agent { return agent }
    guard state != .closed else { return nil }
    ice.agent = ICEAgent(
      loop: loop, configuration: configuration,
      events: ICEEvents(
        candidate: { [unowned self] candidate in tell { $0.peerConnection($1, didGather: candidate) } },
        state: { [unowned self] state in iceChanged(state) },
        selected: { [unowned self] pair in
          path.pair = pair
          logger.debug("candidate pair chosen", metadata: ["pair": "\(pair)"])
        },
        datagram: { [unowned self] buffer, time in received(buffer, at: time) }))
    return ice.agent
  }

  private func startGathering() {
    // Not within the change of the state: candidates may come at once.
    if ice.beginsToGather() { ice.agent?.gather() }
  }

  // MARK: State

  private func change(to new: PeerState) {
    guard state != new, state != .closed else { return }
    if case .failed = state { guard new == .closed else { return } }
    state = new
    tell { $0.peerConnection($1, didChange: new) }
  }

  private func tell(_ call: (any PeerConnectionDelegate, PeerConnection) -> Void) {
    if let delegate = listener.delegate, let owner = listener.owner { call(delegate, owner) }
  }

  private func armConnectTimer() {
    connectTimer?.cancel()
    let bound = LoopBound(Weak(self), on: loop)
    connectTimer = loop.after(configuration.connectTimeout) { bound.value.object?.connectTimedOut() }
  }

  private func connectTimedOut() {
    guard state == .connecting else { return }
    let tried = ice.agent?.triedCandidates ?? ""
    let isReached = security.dtls != nil
    change(
      to: .failed(
        isReached ? .dtlsFailed("no answer to the handshake on \(path.pair)") : .iceFailed(tried: tried)))
  }

  private func iceChanged(_ new: ICEAgent.State) {
    logger.debug("ICE state", metadata: ["state": "\(new)"])
    switch new {
    case .connected, .ready:
      if let former = ice.connects() { farewells.close(former) }
      path.isAnother(at: .now)
      if security.dtls == nil { startDTLS() } else if security.isUp { change(to: .connected) }
    case .failed:
      // Before the first connection the peer's candidates may still be on their way; the timer decides then.
      if security.dtls != nil { lostConsent() }
    case .disconnected:
      if security.isUp { lostConsent() }
    case .gathering, .connecting: break
    }
  }

  private func watchPath() {
    path.begin(at: .now)
    let bound = LoopBound(Weak(self), on: loop)
    path.timer = loop.after(PathWatch.interval) { bound.value.object?.lookAtPath() }
  }

  private func lookAtPath() {
    // Nobody answers heartbeats where there is no association; there libnice's checks decide, after 50 s.
    if let sctp = channels.sctp, sctp.isUp {
      switch path.look(at: .now) {
      case .dead: lostConsent()
      case .quiet: ice.carrier?.hasLostItsAddress == true ? lostConsent() : sctp.sendHeartbeat()
      case .alive, nil: break
      }
    }
    watchPath()
  }

  private func lostConsent() { change(to: .disconnected(.consentLost(pair: path.pair))) }

  // MARK: DTLS, SRTP, SCTP

  private func startDTLS() {
    guard let remote = ice.remote else { return }
    security.dtls = DTLSTransport(
      loop: loop, isClient: security.isClient, profiles: configuration.srtpProfiles,
      fingerprints: remote.fingerprints, send: { [unowned self] datagram in ice.carrier?.send(datagram) },
      emit: { [unowned self] event in handle(event) })
    guard let dtls = security.dtls else { return change(to: .failed(.dtlsFailed("OpenSSL refused its settings"))) }
    dtls.start()
  }

  private func handle(_ event: DTLSTransport.Event) {
    switch event {
    case .connected(let keys): secured(keys)
    case .data(let bytes):
      path.heard(at: .now)
      channels.sctp?.receive(bytes)
    case .failed(let error): change(to: .failed(error))
    case .closed: change(to: .failed(.closedByPeer))
    }
  }

  private func secured(_ keys: SRTPKeys?) {
    connectTimer?.cancel()
    guard let keys, let session = SRTPSession(keys: keys, isClient: security.isClient) else {
      return change(to: .failed(.noSRTPProfile))
    }
    logger.debug("DTLS done")
    security.srtp = session
    change(to: .connected)
    startSCTP()
    watchPath()
  }

  private func negotiatedDataChannels() {
    channels.areNegotiated = true
    startSCTP()
  }

  private func startSCTP() {
    guard channels.areNegotiated, security.isUp, channels.sctp == nil else { return }
    let bound = LoopBound(Weak(self), on: loop)
    channels.sctp = SCTPTransport(
      loop: loop, isDTLSClient: security.isClient, send: { bound.value.object?.security.dtls?.send($0) },
      emit: { [unowned self] event in
        switch event {
        case .opened(let channel):
          logger.debug("data channel open", metadata: ["label": "\(channel.label)"])
          tell { $0.peerConnection($1, didOpen: channel) }
        case .message(let bytes, let isText, let channel):
          tell { $0.peerConnection($1, didReceive: bytes, isText: isText, on: channel) }
        case .failed: change(to: .failed(.noDataChannels))
        case .ended: change(to: .failed(.closedByPeer))
        }
      })
    for request in channels.takeRequests() { channels.sctp?.open(request) }
  }

  func open(_ channel: DCEP.Open) {
    if let sctp = channels.sctp { sctp.open(channel) } else { channels.requests.append(channel) }
  }

  @discardableResult
  func send(_ message: [UInt8], isText: Bool, on channel: DataChannel) -> Bool {
    channels.sctp?.send(message, isText: isText, on: channel.id) ?? false
  }

  var isAcknowledged: Bool { channels.sctp?.isAcknowledged ?? true }

  func measureRoundTrip() -> Duration? {
    defer { channels.sctp?.sendHeartbeat() }
    return channels.sctp?.roundTrip
  }

  func isAnswered(since start: MediaTime) -> Bool? { channels.sctp?.isAnswered(since: start) }

  // MARK: Packets

  /// Tells the protocols on one port apart by the first byte (RFC 7983) and RTCP by the second (RFC 5761).
  private func received(_ buffer: PacketBuffer, at time: MediaTime) {
    let (first, second) = buffer.withUnsafeBytes { bytes in
      bytes.count >= 2 ? (bytes[0], bytes[1]) : (0, 0)
    }
    switch first {
    case 20...63: buffer.withUnsafeBytes { security.dtls?.receive($0) }
    case 128...191: receivedMedia(buffer, isRTCP: RTPPacket.isRTCP(first: first, second: second), at: time)
    default: break
    }
  }

  private func receivedMedia(_ buffer: PacketBuffer, isRTCP: Bool, at time: MediaTime) {
    guard let srtp = security.srtp, srtp.unprotect(buffer, isRTCP: isRTCP) else { return }
    path.heard(at: time)
    if isRTCP {
      let reports = buffer.withUnsafeBytes { RTCPPacket.parse($0) }
      tell { $0.peerConnection($1, didReceive: reports, at: time) }
    } else if let packet = try? RTPPacket(parsing: buffer) {
      tell { $0.peerConnection($1, didReceive: packet, at: time) }
    }
  }

  /// Encryption happens in place, and others may hold the packet: so it works on a copy.
  func send(_ packet: RTPPacket) {
    guard security.isUp else { return }
    packet.withUnsafeBytes { protectAndSend(PacketBuffer(copying: $0), isRTCP: false) }
  }

  func send(_ reports: [RTCPPacket]) {
    guard security.isUp else { return }
    protectAndSend(PacketBuffer(copying: RTCPPacket.serialize(reports)), isRTCP: true)
  }

  private func protectAndSend(_ buffer: PacketBuffer, isRTCP: Bool) {
    let length = buffer.count
    buffer.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress, let count = security.srtp?.protect(base, count: length, isRTCP: isRTCP)
      else { return }
      ice.carrier?.send(UnsafeRawBufferPointer(start: base, count: count))
    }
  }

  // MARK: End

  func close(_ completion: @escaping () -> Void) {
    guard state != .closed else { return completion() }
    change(to: .closed)
    listener.delegate = nil
    connectTimer?.cancel()
    restartTimer?.cancel()
    path.timer?.cancel()
    channels.sctp?.close()
    channels.sctp = nil
    security.dtls?.close()
    for agent in ice.ends() { farewells.close(agent) }
    farewells.whenAllAreClosed { [self] in
      security.dtls = nil
      completion()
    }
  }
}
