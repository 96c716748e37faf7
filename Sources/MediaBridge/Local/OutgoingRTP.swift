import GStreamerKit
import MediaCore
import PeerTransport
import RTP

/// The RTP of one layer, on its way to the server: numbers packets, sends again what was lost, and reports.
final class OutgoingRTP: Sendable {
  /// What was agreed with the server.
  struct Format: Sendable {
    var payloadType: PayloadType
    /// What is in the packets of audio that is sent redundantly (RFC 2198).
    var redundant: PayloadType?
    var clockRate: UInt32
    var rtx: PayloadType?
    var extensions: [(id: UInt8, value: [UInt8])]
    /// The header extension of the transport-wide number.
    var numberID: UInt8?
    /// The header extension of how loud audio is (RFC 6464).
    var levelID: UInt8?

    /// - Parameters:
    ///   - redundant: what is in the packets where `payloadType` is that of RED, and nil for others.
    ///   - rtx: nil where lost packets are sent again as they were.
    ///   - extensions: of the header of every packet: the mid, and the rid of a layer (RFC 8852).
    ///   - numberID: nil where the server reports no arrivals.
    ///   - levelID: nil for video, and where the server does not want to know.
    init(
      payloadType: PayloadType, redundant: PayloadType? = nil, clockRate: UInt32, rtx: PayloadType?,
      extensions: [(id: UInt8, value: [UInt8])] = [], numberID: UInt8? = nil, levelID: UInt8? = nil
    ) {
      (self.payloadType, self.redundant, self.clockRate) = (payloadType, redundant, clockRate)
      (self.rtx, self.numberID, self.levelID) = (rtx, numberID, levelID)
      // The number itself is known when the packet goes.
      self.extensions = extensions + (numberID.map { [(id: $0, value: [0, 0])] } ?? [])
    }
  }

  fileprivate struct State {
    var sender: RTPSender
    var format: Format?
    var redundancy: RedundancyWriter?
    /// Whether there is room for what was sent before.
    var isRepeating = true
    /// Of the newest audio; nil for video, and where nobody knows.
    var level: AudioLevel?
    var next = SequenceNumber(.random(in: 0...(.max / 2)))
    /// Of the newest packet of media.
    var newest: (timestamp: UInt32, endsFrame: Bool)?
  }

  static let cname = "mediabridge"
  /// Bytes that a packet has more than what a payloader made: the mid, the rid and the transport-wide number.
  static let extensionLength = 16
  let ssrc = SSRC(.random(in: 1...(.max - 1)))
  private let peer: PeerConnection
  private let link: OutgoingLink
  /// The place of a layer of video; nil for audio.
  let rank: Int?
  private let state: Locked<State>

  /// - Parameters:
  ///   - link: what it shares with others.
  ///   - rank: the place of a layer of video, from the smallest on; nil for audio.
  init(peer: PeerConnection, link: OutgoingLink, rank: Int?) {
    (self.peer, self.link, self.rank) = (peer, link, rank)
    state = Locked(State(sender: RTPSender(configuration: .init(ssrc: ssrc, clockRate: 90_000))))
  }

  var rtxSSRC: SSRC { SSRC(ssrc.rawValue + 1) }
  var statistics: RTPSender.Statistics { state.withLock { $0.sender.statistics } }

  func negotiated(_ format: Format) {
    let sender = RTPSender(configuration: format.configuration(of: ssrc, rtxSSRC: rtxSSRC, isVideo: rank != nil))
    state.withLock { state in
      // Another offer for another track changes nothing here.
      if state.format == nil {
        state.sender = sender
        state.redundancy = format.redundant.map(RedundancyWriter.init)
      }
      state.format = format
    }
  }

  /// - Parameter isRepeating: whether packets of audio hold the one before, too, where that was agreed on.
  func set(isRepeating: Bool) { state.withLock { $0.isRepeating = isRepeating } }

  /// How loud the audio is that is sent now; nil where nobody knows.
  func set(level: AudioLevel?) { state.withLock { $0.level = level } }

  /// Called on a media thread with one packet that a payloader made.
  func send(_ media: MediaBuffer) { peer.loop.run { [self] in link.send(media, of: self) } }

  /// What a payloader made as a packet that goes now: numbers are given no sooner, since what is dropped before would
  /// leave a hole, which the server would ask for. The time of `media` is the moment of capture: audio and video share
  /// that clock, however long encoding took. To be called on the transport's loop.
  /// - Returns: nil before anything is agreed, and for what is no RTP.
  func makePacket(_ media: MediaBuffer, at time: MediaTime) -> OutgoingPacket? {
    let ntp = NTPTime.now
    let (packet, reports) = media.withUnsafeBytes { bytes in
      state.withLock { state -> (OutgoingPacket?, [RTCPPacket]) in
        guard let packet = state.makePacket(bytes, ssrc) else { return (nil, []) }
        state.sender.sent(packet, at: time, captured: media.pts)
        let outgoing = OutgoingPacket(packet: packet, numberID: state.format?.numberID)
        return (outgoing, state.sender.poll(at: time, ntp: ntp))
      }
    }
    // Behind the packet, which they count.
    if !reports.isEmpty { peer.loop.post { [peer] in peer.send(reports) } }
    return packet
  }

  /// A packet of nothing but padding, which is numbered with the frames and goes now.
  /// - Parameter count: bytes of padding, from 1 on.
  /// - Returns: nil within a frame, and where nobody reports when it came.
  func makePadding(_ count: UInt8, at time: MediaTime) -> OutgoingPacket? {
    state.withLock { state in
      guard let format = state.format, let id = format.numberID, let packet = state.makePadding(count, ssrc, format)
      else {
        return nil
      }
      state.sender.sent(packet, at: time)
      return OutgoingPacket(packet: packet, numberID: id)
    }
  }

  /// To be called on the transport's loop.
  /// - Parameter repeats: whether what was lost is still of use.
  /// - Returns: whether a keyframe is asked for.
  func receive(_ report: RTCPPacket, at time: MediaTime, repeats: Bool = true) -> Bool {
    let (response, id) = state.withLock { ($0.sender.receive(report, at: time), $0.format?.numberID) }
    if rank != nil, !response.retransmissions.isEmpty { link.lost(of: ssrc, at: time) }
    for packet in response.retransmissions where repeats && link.hasRoom(toRepeat: packet) {
      link.sendAgain(OutgoingPacket(packet: packet, numberID: id, isNew: packet.ssrc != ssrc), waits: rank != nil)
    }
    return response.isKeyframeRequested
  }
}

extension OutgoingRTP.Format {
  /// 2 s of 20 Mbit/s. A keyframe alone may have a thousand packets.
  private static let videoHistory = 4096

  func configuration(of ssrc: SSRC, rtxSSRC: SSRC, isVideo: Bool) -> RTPSender.Configuration {
    let retransmission = rtx.map { RTPSender.Retransmission(ssrc: rtxSSRC, payloadTypes: [payloadType: $0]) }
    var configuration = RTPSender.Configuration(
      ssrc: ssrc, clockRate: clockRate, retransmission: retransmission, cname: OutgoingRTP.cname)
    if isVideo { configuration.historyLength = Self.videoHistory }
    return configuration
  }
}

extension OutgoingRTP.State {
  /// Nil before anything is agreed, and for what is no RTP.
  fileprivate mutating func makePacket(_ bytes: UnsafeRawBufferPointer, _ ssrc: SSRC) -> RTPPacket? {
    guard let format, let packet = makePacket(bytes, ssrc, format) else { return nil }
    next = next.successor
    newest = (packet.timestamp, packet.marker)
    return packet
  }

  fileprivate mutating func makePadding(_ count: UInt8, _ ssrc: SSRC, _ format: OutgoingRTP.Format) -> RTPPacket? {
    guard let newest, newest.endsFrame else { return nil }
    defer { next = next.successor }
    return RTPPacket(
      payloadType: format.payloadType, sequenceNumber: next, timestamp: newest.timestamp, ssrc: ssrc,
      extensions: format.extensions, payload: [], padding: count)
  }

  private mutating func makePacket(
    _ bytes: UnsafeRawBufferPointer, _ ssrc: SSRC, _ format: OutgoingRTP.Format
  ) -> RTPPacket? {
    var extensions = format.extensions
    if let level, let id = format.levelID { extensions.append((id: id, value: [level.element])) }
    if redundancy != nil {
      return redundancy?.repack(
        bytes, payloadType: format.payloadType, sequenceNumber: next, ssrc: ssrc, extensions: extensions,
        isRepeating: isRepeating)
    }
    return RTPPacket(
      repacking: bytes, payloadType: format.payloadType, sequenceNumber: next, ssrc: ssrc, extensions: extensions)
  }
}
