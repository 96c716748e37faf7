import GStreamerKit
import MediaCore
import PeerTransport
import RTP

/// The RTP of one layer, on its way to the server: numbers packets, sends again what was lost, and reports.
final class OutgoingStream: Sendable {
  /// What was agreed with the server.
  struct Format: Sendable {
    var payloadType: PayloadType
    var clockRate: UInt32
    /// Nil where lost packets are sent again as they were.
    var rtx: PayloadType?
    /// Header extensions of every packet: the mid, and the rid of a layer (RFC 8852).
    var extensions: [(id: UInt8, value: [UInt8])]
  }

  fileprivate struct State {
    var sender: RTPSender
    var format: Format?
    var next = SequenceNumber(.random(in: 0...(.max / 2)))
  }

  static let cname = "mediabridge"
  let ssrc = SSRC(.random(in: 1...(.max - 1)))
  private let peer: PeerConnection
  private let state: Locked<State>

  init(peer: PeerConnection) {
    self.peer = peer
    state = Locked(State(sender: RTPSender(configuration: .init(ssrc: ssrc, clockRate: 90_000))))
  }

  var rtxSSRC: SSRC { SSRC(ssrc.rawValue + 1) }
  var statistics: RTPSender.Statistics { state.withLock { $0.sender.statistics } }

  func negotiated(_ format: Format) {
    let retransmission = format.rtx.map {
      RTPSender.Retransmission(ssrc: rtxSSRC, payloadTypes: [format.payloadType: $0])
    }
    let sender = RTPSender(
      configuration: .init(
        ssrc: ssrc, clockRate: format.clockRate, retransmission: retransmission, cname: Self.cname))
    state.withLock { state in
      // Another offer for another track changes nothing here.
      if state.format == nil { state.sender = sender }
      state.format = format
    }
  }

  /// Called on a media thread with what a send template made, one packet.
  /// - Parameter captured: when what is in it happened.
  func send(_ media: MediaBuffer, captured: MediaTime?) {
    let (time, ntp) = (MediaTime.now, NTPTime.now)
    let (packet, reports) = media.withUnsafeBytes { bytes in
      state.withLock { state -> (RTPPacket?, [RTCPPacket]) in
        guard let packet = state.makePacket(bytes, ssrc) else { return (nil, []) }
        state.sender.sent(packet, at: time, captured: captured)
        return (packet, state.sender.poll(at: time, ntp: ntp))
      }
    }
    if let packet { peer.send(packet) }
    peer.send(reports)
  }

  /// - Returns: whether a keyframe is asked for.
  func receive(_ report: RTCPPacket, at time: MediaTime) -> Bool {
    let response = state.withLock { $0.sender.receive(report, at: time) }
    for packet in response.retransmissions { peer.send(packet) }
    return response.isKeyframeRequested
  }
}

extension OutgoingStream.State {
  /// A packet of ours around a payload of GStreamer's; nil before anything is agreed, and for what is no RTP.
  fileprivate mutating func makePacket(_ bytes: UnsafeRawBufferPointer, _ ssrc: SSRC) -> RTPPacket? {
    guard let format, let header = PlainHeader(bytes) else { return nil }
    defer { next = next.successor }
    return RTPPacket(
      payloadType: format.payloadType, sequenceNumber: next, timestamp: header.timestamp, ssrc: ssrc,
      marker: header.marker, extensions: format.extensions,
      payload: UnsafeRawBufferPointer(rebasing: bytes[header.length...]))
  }
}

/// What counts of the header that a payloader has written (RFC 3550, 5.1).
private struct PlainHeader {
  let marker: Bool
  let timestamp: UInt32
  let length: Int

  /// - Returns: nil for what is no RTP packet with a payload, or has padding, which no payloader makes.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 12, bytes[0] & 0xe0 == 0x80 else { return nil }
    marker = bytes[1] & 0x80 != 0
    timestamp = (4..<8).reduce(0) { $0 << 8 | UInt32(bytes[$1]) }
    var length = 12 + 4 * Int(bytes[0] & 0x0f)
    if bytes[0] & 0x10 != 0 {
      guard bytes.count >= length + 4 else { return nil }
      length += 4 + 4 * (Int(bytes[length + 2]) << 8 | Int(bytes[length + 3]))
    }
    guard bytes.count > length else { return nil }
    self.length = length
  }
}
