import Logging
import MediaCore
import RTP
import SDP

/// The parts of a peer connection and how they feed each other. Lives on its loop.
final class PeerCore {
  private let loop: TransportLoop
  private let configuration: PeerConfiguration
  private weak var delegate: (any PeerConnectionDelegate)?
  weak var owner: PeerConnection?

  private var ice: ICEAgent?
  private var dtls: DTLSTransport?
  private var srtp: SRTPSession?
  private var sctp: SCTPTransport?
  private var remote: TransportParameters?
  /// Both sides have described data channels, at once or later on.
  private var hasDataChannels = false
  private var isDTLSClient = true
  private var channelRequests: [DCEP.Open] = []
  private var connectTimer: LoopTimer?
  private var path: PathWatch?
  private var pathTimer: LoopTimer?
  private var isGathering = false
  /// The candidate pair in use, in words.
  private var pair = "no candidate pair"
  private var logger: Logger { configuration.logger }
  /// ICE was restarted and the peer's part of it is still to come.
  private var hasNewCredentials = false
  private(set) var state = PeerState.new
  private(set) var counters = PeerCounters()

  init(loop: TransportLoop, configuration: PeerConfiguration, delegate: any PeerConnectionDelegate) {
    self.loop = loop
    self.configuration = configuration
    self.delegate = delegate
  }

  // MARK: Description

  func localParameters(setup: Setup) -> TransportParameters? {
    guard let agent = agent(), let credentials = agent.localCredentials else { return nil }
    return TransportParameters(
      iceUfrag: credentials.ufrag, icePwd: credentials.pwd, fingerprints: [Certificate.shared.fingerprint],
      setup: setup)
  }

  /// The answer to a restart carries new credentials too (RFC 8839, 4.4.1.1), so they are made before it is written.
  func localParameters(answering parameters: TransportParameters, setup: Setup) -> TransportParameters? {
    if restarts(parameters) && !hasNewCredentials { restartICE() }
    return localParameters(setup: setup)
  }

  private func restarts(_ parameters: TransportParameters) -> Bool {
    remote.map { $0.iceUfrag != parameters.iceUfrag } ?? false
  }

  func connect(to parameters: TransportParameters, isDTLSClient: Bool) {
    guard state != .closed, let agent = agent() else { return }
    let isRestart = restarts(parameters)
    let isFirst = remote == nil
    if parameters.hasDataChannels { negotiatedDataChannels() }
    guard isFirst || isRestart else { return }
    if isRestart && !hasNewCredentials { restartICE() }
    remote = parameters
    hasNewCredentials = false
    agent.setRemote(parameters)
    startGathering()
    if isFirst {
      self.isDTLSClient = isDTLSClient
      change(to: .connecting)
      armConnectTimer()
    }
  }

  func restartICE() {
    hasNewCredentials = true
    ice?.restart()
    isGathering = false
    startGathering()
  }

  func add(remoteCandidate: String) { agent()?.add(remoteCandidate: remoteCandidate) }

  /// libnice attaches receiving before candidates exist, so the agent is made with the first thing asked of it.
  private func agent() -> ICEAgent? {
    if let ice { return ice }
    guard state != .closed else { return nil }
    ice = ICEAgent(
      loop: loop, configuration: configuration,
      events: ICEEvents(
        candidate: { [unowned self] candidate in tell { $0.peerConnection($1, didGather: candidate) } },
        state: { [unowned self] state in iceChanged(state) },
        selected: { [unowned self] pair in
          self.pair = pair
          logger.debug("candidate pair chosen", metadata: ["pair": "\(pair)"])
        },
        datagram: { [unowned self] buffer, time in received(buffer, at: time) }))
    return ice
  }

  private func startGathering() {
    guard !isGathering else { return }
    isGathering = true
    ice?.gather()
  }

  // MARK: State

  private func change(to new: PeerState) {
    guard state != new, state != .closed else { return }
    if case .failed = state { guard new == .closed else { return } }
    state = new
    tell { $0.peerConnection($1, didChange: new) }
  }

  private func tell(_ call: (any PeerConnectionDelegate, PeerConnection) -> Void) {
    if let delegate, let owner { call(delegate, owner) }
  }

  private func armConnectTimer() {
    let bound = LoopBound(Weak(self), on: loop)
    connectTimer = loop.after(configuration.connectTimeout) { bound.value.object?.connectTimedOut() }
  }

  private func connectTimedOut() {
    guard state == .connecting else { return }
    let tried = ice?.triedCandidates ?? ""
    change(to: .failed(dtls == nil ? .iceFailed(tried: tried) : .dtlsFailed("no answer to the handshake on \(pair)")))
  }

  private func iceChanged(_ new: ICEAgent.State) {
    logger.debug("ICE state", metadata: ["state": "\(new)"])
    switch new {
    case .connected, .ready:
      path = path.map { _ in PathWatch(at: .now) }
      if dtls == nil { startDTLS() } else if srtp != nil { change(to: .connected) }
    case .failed:
      // Before the first connection the peer's candidates may still be on their way; the timer decides then.
      if dtls != nil { lostConsent() }
    case .disconnected:
      if srtp != nil { lostConsent() }
    case .gathering, .connecting: break
    }
  }

  private func watchPath() {
    if path == nil { path = PathWatch(at: .now) }
    let bound = LoopBound(Weak(self), on: loop)
    pathTimer = loop.after(PathWatch.interval) { bound.value.object?.lookAtPath() }
  }

  private func lookAtPath() {
    // Nobody answers heartbeats where there is no association; there libnice's checks decide, after 50 s.
    if let sctp, sctp.isUp {
      switch path?.look(at: .now) {
      case .dead: lostConsent()
      case .quiet: sctp.sendHeartbeat()
      case .alive, nil: break
      }
    }
    watchPath()
  }

  private func lostConsent() { change(to: .disconnected(.consentLost(pair: pair))) }

  // MARK: DTLS, SRTP, SCTP

  private func startDTLS() {
    guard let remote else { return }
    dtls = DTLSTransport(
      loop: loop, isClient: isDTLSClient, profiles: configuration.srtpProfiles, fingerprints: remote.fingerprints,
      send: { [unowned self] datagram in ice?.send(datagram) }, emit: { [unowned self] event in handle(event) })
    guard let dtls else { return change(to: .failed(.dtlsFailed("OpenSSL refused its settings"))) }
    dtls.start()
  }

  private func handle(_ event: DTLSTransport.Event) {
    switch event {
    case .connected(let keys): secured(keys)
    case .data(let bytes):
      path?.heard(at: .now)
      sctp?.receive(bytes)
    case .failed(let error): change(to: .failed(error))
    case .closed: change(to: .failed(.closedByPeer))
    }
  }

  private func secured(_ keys: SRTPKeys?) {
    connectTimer?.cancel()
    guard let keys, let session = SRTPSession(keys: keys, isClient: isDTLSClient) else {
      return change(to: .failed(.noSRTPProfile))
    }
    logger.debug("DTLS done")
    srtp = session
    change(to: .connected)
    startSCTP()
    watchPath()
  }

  private func negotiatedDataChannels() {
    hasDataChannels = true
    startSCTP()
  }

  private func startSCTP() {
    guard hasDataChannels, srtp != nil, sctp == nil else { return }
    let bound = LoopBound(Weak(self), on: loop)
    sctp = SCTPTransport(
      loop: loop, isDTLSClient: isDTLSClient, send: { bound.value.object?.dtls?.send($0) },
      emit: { [unowned self] event in
        switch event {
        case .opened(let channel):
          logger.debug("data channel open", metadata: ["label": "\(channel.label)"])
          tell { $0.peerConnection($1, didOpen: channel) }
        case .message(let bytes, let isText, let channel):
          tell { $0.peerConnection($1, didReceive: bytes, isText: isText, on: channel) }
        case .failed: change(to: .failed(.noDataChannels))
        }
      })
    let requests = channelRequests
    channelRequests = []
    for request in requests { sctp?.open(request) }
  }

  func open(_ channel: DCEP.Open) {
    if let sctp { sctp.open(channel) } else { channelRequests.append(channel) }
  }

  @discardableResult
  func send(_ message: [UInt8], isText: Bool, on channel: DataChannel) -> Bool {
    sctp?.send(message, isText: isText, on: channel.id) ?? false
  }

  func measureRoundTrip() -> Duration? {
    defer { sctp?.sendHeartbeat() }
    return sctp?.roundTrip
  }

  // MARK: Packets

  /// Tells the protocols on one port apart by the first byte (RFC 7983) and RTCP by the second (RFC 5761).
  private func received(_ buffer: PacketBuffer, at time: MediaTime) {
    counters.packetsReceived += 1
    counters.bytesReceived += buffer.count
    let (first, second) = buffer.withUnsafeBytes { bytes in
      bytes.count >= 2 ? (bytes[0], bytes[1]) : (0, 0)
    }
    switch first {
    case 20...63: buffer.withUnsafeBytes { dtls?.receive($0) }
    case 128...191: receivedMedia(buffer, isRTCP: RTPPacket.isRTCP(first: first, second: second), at: time)
    default: counters.packetsDropped += 1
    }
  }

  private func receivedMedia(_ buffer: PacketBuffer, isRTCP: Bool, at time: MediaTime) {
    guard let srtp, srtp.unprotect(buffer, isRTCP: isRTCP) else {
      counters.packetsDropped += 1
      return
    }
    path?.heard(at: time)
    if isRTCP {
      let reports = buffer.withUnsafeBytes { RTCPPacket.parse($0) }
      tell { $0.peerConnection($1, didReceive: reports, at: time) }
    } else if let packet = try? RTPPacket(parsing: buffer) {
      tell { $0.peerConnection($1, didReceive: packet, at: time) }
    } else {
      counters.packetsDropped += 1
    }
  }

  /// Encryption happens in place, and others may hold the packet: so it works on a copy.
  func send(_ packet: RTPPacket) {
    guard srtp != nil else { return }
    packet.withUnsafeBytes { protectAndSend(PacketBuffer(copying: $0), isRTCP: false) }
  }

  func send(_ reports: [RTCPPacket]) {
    guard srtp != nil else { return }
    protectAndSend(PacketBuffer(copying: RTCPPacket.serialize(reports)), isRTCP: true)
  }

  private func protectAndSend(_ buffer: PacketBuffer, isRTCP: Bool) {
    let length = buffer.count
    let sent = buffer.withUnsafeMutableBytes { bytes -> Int? in
      guard let base = bytes.baseAddress, let count = srtp?.protect(base, count: length, isRTCP: isRTCP),
        ice?.send(UnsafeRawBufferPointer(start: base, count: count)) == true
      else { return nil }
      return count
    }
    guard let sent else {
      counters.packetsDropped += 1
      return
    }
    counters.packetsSent += 1
    counters.bytesSent += sent
  }

  // MARK: End

  func close(_ completion: @escaping () -> Void) {
    guard state != .closed else { return completion() }
    change(to: .closed)
    delegate = nil
    connectTimer?.cancel()
    pathTimer?.cancel()
    sctp?.close()
    sctp = nil
    dtls?.close()
    guard let ice else { return completion() }
    self.ice = nil
    ice.close { [self] in
      dtls = nil
      completion()
    }
  }
}
