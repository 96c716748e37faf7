import CNice
import CShims
import Dispatch
import Glibc
import Logging
import MediaCore

/// What the agent tells its owner, on the loop.
struct ICEEvents {
  var candidate: (String) -> Void
  var state: (ICEAgent.State) -> Void
  /// The pair that media takes from now on, in words.
  var selected: (String) -> Void
  var datagram: (PacketBuffer, MediaTime) -> Void
}

/// libnice for one bundled transport: one stream, one component (RFC 8445, 5761). Lives on its loop.
final class ICEAgent {
  enum State { case gathering, connecting, connected, ready, failed, disconnected }

  private let loop: TransportLoop
  private let agent: OpaquePointer
  /// The same as GObject's functions take it.
  private var object: UnsafeMutableRawPointer { UnsafeMutableRawPointer(agent) }
  private let stream: UInt32
  private let events: ICEEvents
  private let logger: Logger
  private let tunnels: RelayTunnels?
  private var relays: [NamedRelay] = []
  private var remoteCandidates: [String] = []
  private var localCandidates: [String] = []
  private var isClosed = false
  private var isRetired = false
  private var isReady = false
  /// Whether this machine has an address at all.
  private var canGather = true
  /// Of the pair in use; nil where the system's list of addresses says nothing of it.
  private var ownAddress: String?
  /// Whether the pair in use leads through a relay.
  private(set) var isRelayed = false
  private let component: UInt32 = 1

  init?(loop: TransportLoop, configuration: PeerConfiguration, events: ICEEvents) {
    LibniceLog.isHeard
    // Consent is PathWatch's: libnice ends it too early.
    guard
      let agent = nice_agent_new_full(loop.context, NICE_COMPATIBILITY_RFC5245, NICE_AGENT_OPTION_ICE_TRICKLE)
    else { return nil }
    self.loop = loop
    self.agent = agent
    self.events = events
    (tunnels, logger) = (configuration.tunnels, configuration.logger)
    let object = UnsafeMutableRawPointer(agent)
    shim_object_set_bool(object, "controlling-mode", configuration.isControlling ? 1 : 0)
    shim_object_set_bool(object, "upnp", 0)
    shim_object_set_bool(object, "keepalive-conncheck", 1)
    // RFC 8445, 14.2 allows 5 ms between checks; libnice's 20 are most of the time that a join takes on a good network.
    shim_object_set_uint(object, "stun-pacing-timer", 5)
    shim_object_set_bool(object, "force-relay", configuration.servers.isRelayOnly ? 1 : 0)
    // Each host candidate of TCP would have a relay of its own, of which servers allow a participant a dozen.
    if configuration.servers.isRelayOnly { shim_object_set_bool(object, "ice-tcp", 0) }
    for address in Self.addresses(configuration) { Self.add(localAddress: address, to: agent) }
    stream = nice_agent_add_stream(agent, 1)
    guard stream != 0 else {
      isClosed = true
      g_object_unref(object)
      return nil
    }
    for server in configuration.servers.list { use(server) }
    connectSignals()
  }

  deinit { precondition(isClosed, "an ICE agent is closed before it is released") }

  var localCredentials: (ufrag: String, pwd: String)? {
    var ufrag: UnsafeMutablePointer<CChar>?
    var pwd: UnsafeMutablePointer<CChar>?
    guard nice_agent_get_local_credentials(agent, stream, &ufrag, &pwd) != 0, let ufrag, let pwd else { return nil }
    defer {
      g_free(ufrag)
      g_free(pwd)
    }
    return (String(cString: ufrag), String(cString: pwd))
  }

  /// Candidates of both sides, for the message of a transport that cannot connect.
  var triedCandidates: String {
    func list(_ candidates: [String]) -> String {
      let shown = candidates.prefix(Self.listedCandidates).map { CandidateText.endpoint(of: $0) }
      let rest = candidates.count > shown.count ? " and \(candidates.count - shown.count) more" : ""
      return shown.isEmpty ? "none" : shown.joined(separator: ", ") + rest
    }
    let none = "none (this machine has no network interface that is up, or none that ICE uses)"
    return "local \(canGather ? list(localCandidates) : none); remote \(list(remoteCandidates))" + silentRelays
  }

  private static let listedCandidates = 8
  /// libnice checks a hundred pairs at most.
  private static let mostRemoteCandidates = 64
  /// Milliseconds without a check after which libnice ends the timer of its checks: the least that it takes.
  private static let shortestPatience: UInt32 = 50

  private var silentRelays: String {
    let isRelayed = localCandidates.contains { $0.contains(" typ relay") }
    let names = relays.map(\.description).joined(separator: ", ")
    return relays.isEmpty || isRelayed ? "" : "; no relay address from \(names)"
  }

  func gather() { canGather = nice_agent_gather_candidates(agent, stream) != 0 }

  func setRemote(_ parameters: TransportParameters) {
    if parameters.isLite { shim_object_set_bool(object, "controlling-mode", 1) }
    nice_agent_set_remote_credentials(agent, stream, parameters.iceUfrag, parameters.icePwd)
  }

  /// Takes the value of an SDP candidate attribute. What cannot be read or resolved (mDNS names) is passed over.
  func add(remoteCandidate text: String) {
    let value = text.hasPrefix("a=") ? String(text.dropFirst(2)) : text
    // pion repeats every candidate in each offer, and once more for the component that rtcp-mux leaves out.
    guard value.hasPrefix("candidate:"), value.utf8.count < 1000, CandidateText.component(of: value) == component,
      remoteCandidates.count < Self.mostRemoteCandidates, !remoteCandidates.contains(value),
      let candidate = nice_agent_parse_remote_candidate_sdp(agent, stream, "a=" + value)
    else { return }
    remoteCandidates.append(value)
    logger.debug("remote candidate", metadata: ["candidate": "\(CandidateText.endpoint(of: value))"])
    let list = g_slist_append(nil, candidate)
    nice_agent_set_remote_candidates(agent, stream, component, list)
    nice_candidate_free(candidate)
    g_slist_free(list)
  }

  /// Another one is to take over, and tells how it goes: this one tells only what still comes in.
  func retire() { isRetired = true }

  /// False when the datagram was not taken; media is not queued.
  @discardableResult
  func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard !isClosed, let base = bytes.baseAddress else { return false }
    let count = nice_agent_send(agent, stream, component, UInt32(bytes.count), base.assumingMemoryBound(to: CChar.self))
    return count == Int32(bytes.count)
  }

  /// Ends everything; no event comes afterwards. `completion` runs on the loop once the sockets are closed.
  func close(_ completion: @escaping () -> Void) {
    guard !isClosed else { return completion() }
    isClosed = true
    for relay in relays { relay.lookUp?.cancel() }
    shim_disconnect_by_data(object, Unmanaged.passUnretained(self).toOpaque())
    // Without the stream nobody reads a relay's answer to the farewell, which libnice would wait for for two seconds.
    shim_object_set_uint(object, "stun-max-retransmissions", 1)
    shim_object_set_uint(object, "stun-initial-timeout", 20)
    nice_agent_attach_recv(agent, stream, component, loop.context, nil, nil)
    nice_agent_remove_stream(agent, stream)
    let done = Unmanaged.passRetained(Completion(completion))
    nice_agent_close_async(
      agent,
      { _, _, raw in
        Unmanaged<Completion>.fromOpaque(raw!).takeRetainedValue().run()
      }, done.toOpaque())
    g_object_unref(object)
  }

  private final class Completion {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }
}

// MARK: - Set-up

extension ICEAgent {
  private static func addresses(_ configuration: PeerConfiguration) -> [String] {
    let named = configuration.localAddresses
    return named.isEmpty
      ? LocalAddresses.toGather(of: LocalAddresses.all(withLoopback: configuration.isServerOnLoopback)) : named
  }

  private static func add(localAddress text: String, to agent: OpaquePointer) {
    guard let address = nice_address_new() else { return }
    defer { nice_address_free(address) }
    if nice_address_set_from_string(address, text) != 0 { nice_agent_add_local_address(agent, address) }
  }

  private func use(_ server: ICEServer) {
    for text in server.urls {
      guard let url = ICEServerURL(text) else {
        logger.warning("ICE server passed over: not a stun:, turn: or turns: URL", metadata: ["url": "\(text)"])
        continue
      }
      logger.debug("ICE server", metadata: ["url": "\(text)"])
      switch url.scheme {
      case .stun:
        shim_object_set_string(object, "stun-server", url.host)
        shim_object_set_uint(object, "stun-server-port", UInt32(url.port))
      case .turn, .turns:
        relays.append(NamedRelay(url: text))
        let isKnown = !url.isSecure && HostName.isAddress(url.host)
        isKnown ? addRelay((url.host, url.port), url, server) : find(url, server, at: relays.count - 1)
      }
    }
  }

  /// A relay joins later, since a look-up may take seconds, and may have to be tried again where the network is just
  /// coming back. Given a name, libnice 0.1.21 gathers no relayed candidate.
  private func find(_ url: ICEServerURL, _ server: ICEServer, at place: Int, attempts: Int = 5) {
    let bound = LoopBound(Weak(self), on: loop)
    DispatchQueue.global(qos: .userInitiated).async { [tunnels] in
      let route = RelayRoute(to: url, tunnels: tunnels)
      bound.loop.post {
        guard let agent = bound.value.object, !agent.isClosed else { return }
        agent.logger.debug("ICE server found", metadata: ["host": "\(url.host)", "at": "\(route.endpoints)"])
        agent.relays[place].route = route
        for endpoint in route.endpoints { agent.addRelay(endpoint, url, server) }
        // A tunnel looks for its server by itself.
        guard route.endpoints.isEmpty, attempts > 1, !url.isSecure, !agent.isReady else { return }
        agent.relays[place].lookUp = bound.loop.after(Self.lookUpInterval) {
          bound.value.object?.find(url, server, at: place, attempts: attempts - 1)
        }
      }
    }
  }
  private static let lookUpInterval = Duration.seconds(2)

  private func addRelay(_ endpoint: (address: String, port: UInt16), _ url: ICEServerURL, _ server: ICEServer) {
    nice_agent_set_relay_info(
      agent, stream, component, endpoint.address, UInt32(endpoint.port), server.username, server.credential,
      url.isTCP ? NICE_RELAY_TYPE_TURN_TCP : NICE_RELAY_TYPE_TURN_UDP)
  }

  private func connectSignals() {
    let owner = Unmanaged.passUnretained(self).toOpaque()
    let newCandidate: @convention(c) (OpaquePointer?, UnsafeMutablePointer<NiceCandidate>?, gpointer?) -> Void = {
      _, candidate, raw in
      guard let candidate else { return }
      ICEAgent.from(raw).gathered(candidate)
    }
    let stateChanged: @convention(c) (OpaquePointer?, guint, guint, guint, gpointer?) -> Void = {
      _, _, _, state, raw in ICEAgent.from(raw).changed(NiceComponentState(rawValue: state))
    }
    g_signal_connect_data(
      object, "new-candidate-full", unsafeBitCast(newCandidate, to: GCallback.self), owner, nil, GConnectFlags(0))
    g_signal_connect_data(
      object, "component-state-changed", unsafeBitCast(stateChanged, to: GCallback.self), owner, nil, GConnectFlags(0))
    let pairSelected:
      @convention(c) (
        OpaquePointer?, guint, guint, UnsafeMutablePointer<NiceCandidate>?, UnsafeMutablePointer<NiceCandidate>?,
        gpointer?
      ) -> Void = { _, _, _, local, remote, raw in
        guard let local, let remote else { return }
        ICEAgent.from(raw).selected(local, remote)
      }
    g_signal_connect_data(
      object, "new-selected-pair-full", unsafeBitCast(pairSelected, to: GCallback.self), owner, nil, GConnectFlags(0))
    nice_agent_attach_recv(
      agent, stream, component, loop.context,
      { _, _, _, count, bytes, raw in
        guard let bytes, count > 0 else { return }
        ICEAgent.from(raw).received(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      }, owner)
  }

  /// Sound: `close` disconnects every call-back before the owner can go, and all run on the loop.
  private static func from(_ raw: gpointer?) -> ICEAgent {
    Unmanaged<ICEAgent>.fromOpaque(raw!).takeUnretainedValue()
  }

  private func gathered(_ candidate: UnsafeMutablePointer<NiceCandidate>) {
    guard !isRetired, let value = text(of: candidate) else { return }
    localCandidates.append(value)
    logger.debug("local candidate", metadata: ["candidate": "\(CandidateText.endpoint(of: value))"])
    events.candidate(value)
  }

  private func text(of candidate: UnsafeMutablePointer<NiceCandidate>) -> String? {
    guard let text = nice_agent_generate_local_candidate_sdp(agent, candidate) else { return nil }
    defer { g_free(text) }
    return String(String(cString: text).drop { $0 == "a" || $0 == "=" })
  }

  private func selected(
    _ local: UnsafeMutablePointer<NiceCandidate>, _ remote: UnsafeMutablePointer<NiceCandidate>
  ) {
    // TCP finds a size by itself unless it is told one.
    if local.pointee.transport == NICE_CANDIDATE_TRANSPORT_UDP { enlargeReceiveBuffer() }
    guard !isRetired else { return }
    ownAddress = address(of: local)
    isRelayed = local.pointee.type == NICE_CANDIDATE_TYPE_RELAYED
    let ends = [local, remote].map { text(of: $0).map(CandidateText.endpoint) ?? "unknown" }
    events.selected(ends.joined(separator: " to "))
  }

  /// Whether this machine has lost the address that packets leave from, as it does when it changes networks.
  var hasLostItsAddress: Bool { ownAddress.map { !LocalAddresses.all().contains($0) } ?? false }

  private func address(of local: UnsafeMutablePointer<NiceCandidate>) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(NICE_ADDRESS_STRING_LEN))
    nice_address_to_string(&local.pointee.base_addr, &buffer)
    let address = String(upToZero: buffer)
    return LocalAddresses.all().contains(address) ? address : nil
  }

  /// What comes while the loop is busy waits at the socket. The usual 208 KiB are full after 5 ms of a hundred tracks.
  private static let receiveBuffer: Int32 = 2 << 20

  /// As far as the system lets it (`net.core.rmem_max`). Behind a relay the socket is not to be had.
  private func enlargeReceiveBuffer() {
    guard let socket = nice_agent_get_selected_socket(agent, stream, component) else { return }
    defer { g_object_unref(socket) }
    let descriptor = g_socket_get_fd(socket)
    var size: Int32 = 0
    var length = socklen_t(MemoryLayout.size(ofValue: size))
    getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, &length)
    guard size < Self.receiveBuffer else { return }
    size = Self.receiveBuffer
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, length)
  }

  private func changed(_ state: NiceComponentState) {
    guard !isRetired else { return }
    switch state {
    case NICE_COMPONENT_STATE_GATHERING: events.state(.gathering)
    case NICE_COMPONENT_STATE_CONNECTING: events.state(.connecting)
    case NICE_COMPONENT_STATE_CONNECTED: events.state(.connected)
    case NICE_COMPONENT_STATE_READY:
      // From here on the checks' timer, which runs every 5 ms, waits for candidates in vain.
      shim_object_set_uint(object, "idle-timeout", Self.shortestPatience)
      isReady = true
      events.state(.ready)
    case NICE_COMPONENT_STATE_FAILED: events.state(.failed)
    default: events.state(.disconnected)
    }
  }

  /// libnice's buffer dies with the call, so this is the one copy between socket and decoder.
  private func received(_ bytes: UnsafeRawBufferPointer) {
    keepInPoll()
    events.datagram(PacketBuffer(copying: bytes), .now)
  }

  /// GLib takes the socket of a source that it calls out of its poll for the time of the call, and wakes itself for the
  /// change each time: four system calls and a round of the loop for every burst of packets. It leaves a source alone
  /// that may be called again while it is called, which ours never is.
  private func keepInPoll() {
    guard let source = g_main_current_source(), g_source_get_can_recurse(source) == 0 else { return }
    g_source_set_can_recurse(source, 1)
  }
}
