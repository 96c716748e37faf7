import CNice
import CShims
import Glibc
import MediaCore

/// What the agent tells its owner, on the loop.
struct ICEEvents {
  var candidate: (String) -> Void
  var state: (ICEAgent.State) -> Void
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
  private var remoteCandidates: [String] = []
  private var localCandidates: [String] = []
  private var isClosed = false
  private let component: UInt32 = 1

  init?(loop: TransportLoop, configuration: PeerConfiguration, events: ICEEvents) {
    let options = NiceAgentOption(
      rawValue: NICE_AGENT_OPTION_ICE_TRICKLE.rawValue | NICE_AGENT_OPTION_CONSENT_FRESHNESS.rawValue)
    guard let agent = nice_agent_new_full(loop.context, NICE_COMPATIBILITY_RFC5245, options) else { return nil }
    self.loop = loop
    self.agent = agent
    self.events = events
    let object = UnsafeMutableRawPointer(agent)
    shim_object_set_bool(object, "controlling-mode", configuration.isControlling ? 1 : 0)
    shim_object_set_bool(object, "upnp", 0)
    shim_object_set_bool(object, "force-relay", configuration.isRelayOnly ? 1 : 0)
    for address in configuration.localAddresses { Self.add(localAddress: address, to: agent) }
    stream = nice_agent_add_stream(agent, 1)
    guard stream != 0 else {
      g_object_unref(object)
      return nil
    }
    for server in configuration.iceServers { use(server) }
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
      let shown = candidates.prefix(8).map { Self.endpoint(of: $0) }
      return shown.isEmpty ? "none" : shown.joined(separator: ", ")
    }
    return "local \(list(localCandidates)); remote \(list(remoteCandidates))"
  }

  func gather() { nice_agent_gather_candidates(agent, stream) }

  func setRemote(_ parameters: TransportParameters) {
    if parameters.isLite { shim_object_set_bool(object, "controlling-mode", 1) }
    nice_agent_set_remote_credentials(agent, stream, parameters.iceUfrag, parameters.icePwd)
  }

  /// Takes the value of an SDP candidate attribute. What cannot be read or resolved (mDNS names) is passed over.
  func add(remoteCandidate text: String) {
    let value = text.hasPrefix("a=") ? String(text.dropFirst(2)) : text
    guard value.hasPrefix("candidate:"), value.utf8.count < 1000,
      let candidate = nice_agent_parse_remote_candidate_sdp(agent, stream, "a=" + value)
    else { return }
    remoteCandidates.append(value)
    var list = g_slist_append(nil, candidate)
    nice_agent_set_remote_candidates(agent, stream, component, list)
    nice_candidate_free(candidate)
    g_slist_free(list)
    list = nil
  }

  func remoteGatheringDone() { nice_agent_peer_candidate_gathering_done(agent, stream) }

  /// New credentials, so that checks begin anew (RFC 8445, 9).
  func restart() {
    nice_agent_restart_stream(agent, stream)
    localCandidates.removeAll()
    remoteCandidates.removeAll()
  }

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
    shim_disconnect_by_data(object, Unmanaged.passUnretained(self).toOpaque())
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
  private static func add(localAddress text: String, to agent: OpaquePointer) {
    guard let address = nice_address_new() else { return }
    defer { nice_address_free(address) }
    if nice_address_set_from_string(address, text) != 0 { nice_agent_add_local_address(agent, address) }
  }

  private func use(_ server: ICEServer) {
    for url in server.urls.compactMap(ICEServerURL.init) {
      switch url.scheme {
      case .stun:
        shim_object_set_string(object, "stun-server", url.host)
        shim_object_set_uint(object, "stun-server-port", UInt32(url.port))
      case .turn, .turns:
        let kind =
          url.scheme == .turns
          ? NICE_RELAY_TYPE_TURN_TLS
          : url.isTCP ? NICE_RELAY_TYPE_TURN_TCP : NICE_RELAY_TYPE_TURN_UDP
        nice_agent_set_relay_info(
          agent, stream, component, url.host, UInt32(url.port), server.username, server.credential, kind)
      }
    }
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
    guard let text = nice_agent_generate_local_candidate_sdp(agent, candidate) else { return }
    defer { g_free(text) }
    let value = String(String(cString: text).drop { $0 == "a" || $0 == "=" })
    localCandidates.append(value)
    events.candidate(value)
  }

  private func changed(_ state: NiceComponentState) {
    switch state {
    case NICE_COMPONENT_STATE_GATHERING: events.state(.gathering)
    case NICE_COMPONENT_STATE_CONNECTING: events.state(.connecting)
    case NICE_COMPONENT_STATE_CONNECTED: events.state(.connected)
    case NICE_COMPONENT_STATE_READY: events.state(.ready)
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

  /// `udp 127.0.0.1:50000 host` of a candidate attribute.
  static func endpoint(of candidate: String) -> String {
    let fields = candidate.split(separator: " ")
    guard fields.count >= 8 else { return candidate }
    return "\(fields[2].lowercased()) \(fields[4]):\(fields[5]) \(fields[7])"
  }
}
