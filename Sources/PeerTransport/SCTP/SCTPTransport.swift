import CUsrsctp
import Glibc
import MediaCore

/// One SCTP association over DTLS with data channels on its streams (RFC 8831). Lives on its loop.
final class SCTPTransport {
  enum Event {
    case opened(DataChannel)
    case message([UInt8], isText: Bool, DataChannel)
    /// The association could not be set up.
    case failed
    /// The peer has ended the association, or answers no more.
    case ended
  }

  private struct Channel {
    var info: DataChannel
    var settings: DCEP.Open
    var isOpen: Bool
  }

  private let loop: TransportLoop
  private let emit: (Event) -> Void
  private var id: UInt = 0
  private var socket: OpaquePointer?
  private var channels: [UInt16: Channel] = [:]
  private var waiting: [DCEP.Open] = []
  /// Whether the association stands, so that the peer answers heartbeats.
  private(set) var isUp = false
  private var nextStream: UInt16
  private var assembly = MessageAssembly(limit: messageLimit)
  private let ticker: SCTPTicker
  private var heartbeats = HeartbeatTimer()

  private static let port: UInt16 = 5000
  /// Unanswered ones in a row that end an association: two minutes of them.
  private static let repeats: UInt16 = 60
  /// The largest message we put together; LiveKit's own limit is 64 KiB a packet.
  private static let messageLimit = 1 << 20
  private enum PPID {
    static let text: UInt32 = 51
    static let binary: UInt32 = 53
    static let emptyText: UInt32 = 56
    static let emptyBinary: UInt32 = 57
  }

  /// - Parameter isDTLSClient: that side opens even streams, the other odd ones (RFC 8832, 6).
  init?(
    loop: TransportLoop, isDTLSClient: Bool, send: @escaping @Sendable ([UInt8]) -> Void,
    emit: @escaping (Event) -> Void
  ) {
    (self.loop, self.emit, ticker) = (loop, emit, SCTPTicker(loop: loop))
    nextStream = isDTLSClient ? 0 : 1
    let bound = LoopBound<Weak<SCTPTransport>?>(nil, on: loop)
    bound.value = Weak(self)
    id = SCTPStack.register(
      .init(
        send: { packet in
          loop.post {
            if let transport = bound.value?.object {
              packet.withUnsafeBytes { transport.heartbeats.sent($0, at: .now) }
              transport.ticker.notePacket()
            }
            send(packet)
          }
        },
        receive: { bytes, ppid, stream, isNotification in
          loop.post { bound.value?.object?.received(bytes, ppid: ppid, stream: stream, isNotification: isNotification) }
        }))
    guard SCTPStack.enter(openSocket) else {
      close()
      return nil
    }
    ticker.start()
  }

  func close() {
    ticker.stop()
    if let socket {
      SCTPStack.enter { usrsctp_close(socket) }
      self.socket = nil
    }
    if id != 0 { SCTPStack.unregister(id) }
    id = 0
  }

  /// A packet that came out of DTLS.
  func receive(_ packet: UnsafeRawBufferPointer) {
    guard id != 0 else { return }
    heartbeats.received(packet, at: .now)
    ticker.notePacket()
    SCTPStack.enter { usrsctp_conninput(UnsafeMutableRawPointer(bitPattern: id), packet.baseAddress, packet.count, 0) }
  }

  /// The time that the newest timed heartbeat took to the peer and back; nil when none has been answered of late.
  var roundTrip: Duration? { heartbeats.roundTrip(at: .now) }

  /// Whether a timed heartbeat has been answered since then; nil where none can be sent.
  func isAnswered(since start: MediaTime) -> Bool? { isUp ? heartbeats.answered.map { $0 >= start } ?? false : nil }

  /// Sends a heartbeat (RFC 6458, 8.1.12) and times it, unless one is under way since a moment.
  func sendHeartbeat() {
    guard isUp, let socket, heartbeats.expect(at: .now) else { return }
    var path = sctp_paddrparams()
    path.spp_flags = UInt32(SPP_HB_DEMAND)
    withUnsafeMutableBytes(of: &path.spp_address) { bytes in
      withUnsafeBytes(of: connectionAddress) { bytes.copyMemory(from: $0) }
    }
    _ = SCTPStack.enter {
      usrsctp_setsockopt(
        socket, Int32(IPPROTO_SCTP), SCTP_PEER_ADDR_PARAMS, &path, socklen_t(MemoryLayout<sctp_paddrparams>.size))
    }
  }

  /// Whether the peer has acknowledged all that was sent.
  var isAcknowledged: Bool {
    guard isUp, let socket else { return true }
    var status = sctp_status()
    var size = socklen_t(MemoryLayout<sctp_status>.size)
    let result = SCTPStack.enter {
      usrsctp_getsockopt(socket, Int32(IPPROTO_SCTP), SCTP_STATUS, &status, &size)
    }
    return result != 0 || status.sstat_unackdata == 0 && status.sstat_penddata == 0
  }

  func open(_ channel: DCEP.Open) {
    guard isUp else { return waiting.append(channel) }
    let stream = nextStream
    nextStream &+= 2
    channels[stream] = Channel(info: DataChannel(id: stream, label: channel.label), settings: channel, isOpen: false)
    transmit(DCEP.serialize(channel), ppid: DCEP.protocolID, stream: stream, settings: nil)
  }

  /// False when the channel is not open or the stack takes no more now.
  @discardableResult
  func send(_ bytes: [UInt8], isText: Bool, on stream: UInt16) -> Bool {
    guard let channel = channels[stream], channel.isOpen else { return false }
    if bytes.isEmpty {
      return transmit([0], ppid: isText ? PPID.emptyText : PPID.emptyBinary, stream: stream, settings: channel.settings)
    }
    return transmit(bytes, ppid: isText ? PPID.text : PPID.binary, stream: stream, settings: channel.settings)
  }
}

// MARK: - Socket

extension SCTPTransport {
  private func openSocket() -> Bool {
    socket = usrsctp_socket(
      AF_CONN, Int32(SOCK_STREAM.rawValue), Int32(IPPROTO_SCTP),
      { _, _, data, count, info, flags, raw in
        guard let data else { return 1 }
        defer { free(data) }
        let bytes = Array(UnsafeRawBufferPointer(start: data, count: count))
        let isNotification = flags & MSG_NOTIFICATION != 0
        let end = flags & Int32(MSG_EOR) != 0
        let marked = isNotification || end ? info.rcv_ppid.bigEndian : UInt32.max
        SCTPStack.hooks(UInt(bitPattern: raw))?.receive(bytes, marked, info.rcv_sid, isNotification)
        return 1
      }, nil, 0, UnsafeMutableRawPointer(bitPattern: id))
    guard let socket else { return false }
    usrsctp_set_non_blocking(socket, 1)
    configure(socket)
    var address = connectionAddress
    let size = socklen_t(MemoryLayout<sockaddr_conn>.size)
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard usrsctp_bind(socket, address, size) == 0 else { return false }
        let result = usrsctp_connect(socket, address, size)
        return result == 0 || errno == EINPROGRESS
      }
    }
  }

  private var connectionAddress: sockaddr_conn {
    var address = sockaddr_conn()
    address.sconn_family = UInt16(AF_CONN)
    address.sconn_port = Self.port.bigEndian
    address.sconn_addr = UnsafeMutableRawPointer(bitPattern: id)
    return address
  }

  private func configure(_ socket: OpaquePointer) {
    func set<Value: BitwiseCopyable>(_ level: Int32, _ name: Int32, _ value: Value) {
      var value = value
      usrsctp_setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Value>.size))
    }
    let sctp = Int32(IPPROTO_SCTP)
    // Closing aborts at once instead of lingering for an answer that will not come.
    set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    set(sctp, SCTP_NODELAY, Int32(1))
    set(sctp, SCTP_RECVRCVINFO, Int32(1))
    var reset = sctp_assoc_value()
    reset.assoc_value = UInt32(SCTP_ENABLE_RESET_STREAM_REQ)
    set(sctp, SCTP_ENABLE_STREAM_RESET, reset)
    var start = sctp_initmsg()
    // usrsctp holds 40 bytes for each that the peer may use, and pion asks for all 65,535.
    (start.sinit_num_ostreams, start.sinit_max_instreams) = (1024, 1024)
    set(sctp, SCTP_INITMSG, start)
    // After an outage a message is not to wait for the minute that a pause between repeats may become, and whether the
    // peer is gone is for `PathWatch` to say: the way may be found again for as long as the session is resumed.
    var repeats = sctp_rtoinfo()
    // Nor for RFC 4960's second, where it gets lost alone: peers acknowledge within 200 ms.
    (repeats.srto_initial, repeats.srto_min, repeats.srto_max) = (500, 400, 2000)
    set(sctp, SCTP_RTOINFO, repeats)
    var lifetime = sctp_assocparams()
    lifetime.sasoc_asocmaxrxt = Self.repeats
    set(sctp, SCTP_ASSOCINFO, lifetime)
    var event = sctp_event()
    event.se_assoc_id = UInt32(SCTP_ALL_ASSOC)
    event.se_on = 1
    event.se_type = UInt16(SCTP_ASSOC_CHANGE)
    set(sctp, SCTP_EVENT, event)
    // DTLS carries no fragments, so the path's size is ours to say (RFC 8831, 5).
    var path = sctp_paddrparams()
    path.spp_flags = UInt32(SPP_PMTUD_DISABLE)
    path.spp_pathmtu = 1160
    path.spp_pathmaxrxt = Self.repeats
    set(sctp, SCTP_PEER_ADDR_PARAMS, path)
  }

  @discardableResult
  private func transmit(_ bytes: [UInt8], ppid: UInt32, stream: UInt16, settings: DCEP.Open?) -> Bool {
    guard let socket else { return false }
    var spa = sctp_sendv_spa()
    spa.sendv_flags = UInt32(SCTP_SEND_SNDINFO_VALID)
    spa.sendv_sndinfo.snd_sid = stream
    spa.sendv_sndinfo.snd_ppid = ppid.bigEndian
    spa.sendv_sndinfo.snd_flags = UInt16(SCTP_EOR)
    if let settings, !settings.isOrdered { spa.sendv_sndinfo.snd_flags |= UInt16(SCTP_UNORDERED) }
    if let limit = settings?.maxRetransmits {
      spa.sendv_flags |= UInt32(SCTP_SEND_PRINFO_VALID)
      spa.sendv_prinfo.pr_policy = UInt16(SCTP_PR_SCTP_RTX)
      spa.sendv_prinfo.pr_value = limit
    }
    let sent = SCTPStack.enter {
      usrsctp_sendv(
        socket, bytes, bytes.count, nil, 0, &spa, socklen_t(MemoryLayout<sctp_sendv_spa>.size),
        UInt32(SCTP_SENDV_SPA), 0)
    }
    return sent == bytes.count
  }
}

// MARK: - What comes in

extension SCTPTransport {
  private func received(_ bytes: [UInt8], ppid: UInt32, stream: UInt16, isNotification: Bool) {
    if isNotification { return notified(bytes) }
    // A part of a message that is still to end carries no id here.
    guard let message = assembly.add(bytes, of: stream, isEnd: ppid != .max) else { return }
    deliver(message, ppid: ppid, stream: stream)
  }

  private func notified(_ bytes: [UInt8]) {
    // sctp_assoc_change: type, flags, length, then the state.
    guard bytes.count >= 10 else { return }
    let type = UInt16(bytes[0]) | UInt16(bytes[1]) << 8
    let state = UInt16(bytes[8]) | UInt16(bytes[9]) << 8
    guard type == UInt16(SCTP_ASSOC_CHANGE) else { return }
    switch Int32(state) {
    case SCTP_COMM_UP where !isUp:
      isUp = true
      let requests = waiting
      waiting = []
      requests.forEach(open)
      // The first loss may come with the first media.
      sendHeartbeat()
    case SCTP_CANT_STR_ASSOC where !isUp: emit(.failed)
    case SCTP_COMM_LOST where isUp, SCTP_SHUTDOWN_COMP where isUp:
      isUp = false
      emit(.ended)
    default: break
    }
  }

  private func deliver(_ message: [UInt8], ppid: UInt32, stream: UInt16) {
    if ppid == DCEP.protocolID { return control(message, stream: stream) }
    guard let channel = channels[stream] else { return }
    if !channel.isOpen { opened(stream) }
    switch ppid {
    case PPID.text: emit(.message(message, isText: true, channel.info))
    case PPID.binary: emit(.message(message, isText: false, channel.info))
    case PPID.emptyText: emit(.message([], isText: true, channel.info))
    case PPID.emptyBinary: emit(.message([], isText: false, channel.info))
    default: break
    }
  }

  private func control(_ message: [UInt8], stream: UInt16) {
    if let request = DCEP.parseOpen(message) {
      guard channels[stream] == nil else { return }
      channels[stream] = Channel(
        info: DataChannel(id: stream, label: request.label), settings: request, isOpen: false)
      transmit(DCEP.ack, ppid: DCEP.protocolID, stream: stream, settings: nil)
      opened(stream)
    } else if DCEP.isAck(message) {
      opened(stream)
    }
  }

  private func opened(_ stream: UInt16) {
    guard let channel = channels[stream], !channel.isOpen else { return }
    channels[stream]?.isOpen = true
    emit(.opened(channel.info))
  }
}
