package import GStreamerKit
package import MediaCore
package import PeerTransport
package import RTP

/// The RTP of one layer, on its way to the server: numbers packets, sends again what was lost, and reports.
package final class OutgoingRTP: Sendable {
  /// What was agreed with the server.
  package struct Format: Sendable {
    var payloadType: PayloadType
    var clockRate: UInt32
    var rtx: PayloadType?
    var extensions: [(id: UInt8, value: [UInt8])]

    /// - Parameters:
    ///   - rtx: nil where lost packets are sent again as they were.
    ///   - extensions: of the header of every packet: the mid, and the rid of a layer (RFC 8852).
    package init(
      payloadType: PayloadType, clockRate: UInt32, rtx: PayloadType?,
      extensions: [(id: UInt8, value: [UInt8])] = []
    ) {
      (self.payloadType, self.clockRate, self.rtx, self.extensions) = (payloadType, clockRate, rtx, extensions)
    }
  }

  fileprivate struct State {
    var sender: RTPSender
    var format: Format?
    var next = SequenceNumber(.random(in: 0...(.max / 2)))
  }

  package static let cname = "mediabridge"
  package let ssrc = SSRC(.random(in: 1...(.max - 1)))
  private let peer: PeerConnection
  private let state: Locked<State>

  package init(peer: PeerConnection) {
    self.peer = peer
    state = Locked(State(sender: RTPSender(configuration: .init(ssrc: ssrc, clockRate: 90_000))))
  }

  package var rtxSSRC: SSRC { SSRC(ssrc.rawValue + 1) }
  var statistics: RTPSender.Statistics { state.withLock { $0.sender.statistics } }

  package func negotiated(_ format: Format) {
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

  /// Called on a media thread with one packet that a payloader made. Its time is the moment of capture: audio and video
  /// share that clock, however long encoding took.
  package func send(_ media: MediaBuffer) {
    let (time, ntp) = (MediaTime.now, NTPTime.now)
    let (packet, reports) = media.withUnsafeBytes { bytes in
      state.withLock { state -> (RTPPacket?, [RTCPPacket]) in
        guard let packet = state.makePacket(bytes, ssrc) else { return (nil, []) }
        state.sender.sent(packet, at: time, captured: media.pts)
        return (packet, state.sender.poll(at: time, ntp: ntp))
      }
    }
    if let packet { peer.send(packet) }
    peer.send(reports)
  }

  /// - Returns: whether a keyframe is asked for.
  package func receive(_ report: RTCPPacket, at time: MediaTime) -> Bool {
    let response = state.withLock { $0.sender.receive(report, at: time) }
    for packet in response.retransmissions { peer.send(packet) }
    return response.isKeyframeRequested
  }
}

extension OutgoingRTP.State {
  /// Nil before anything is agreed, and for what is no RTP.
  fileprivate mutating func makePacket(_ bytes: UnsafeRawBufferPointer, _ ssrc: SSRC) -> RTPPacket? {
    guard let format,
      let packet = RTPPacket(
        repacking: bytes, payloadType: format.payloadType, sequenceNumber: next, ssrc: ssrc,
        extensions: format.extensions)
    else { return nil }
    next = next.successor
    return packet
  }
}
