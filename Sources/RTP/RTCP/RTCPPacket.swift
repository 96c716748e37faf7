public import MediaCore

/// One RTCP packet of a compound (RFC 3550, 6; RFC 4585, 6). What we do not know is passed over when reading.
public enum RTCPPacket: Sendable, Equatable {
  case senderReport(SenderReport)
  case receiverReport(ReceiverReport)
  case sourceDescription(ssrc: SSRC, cname: String)
  case goodbye([SSRC])
  case nack(NegativeAcknowledgement)
  case pictureLossIndication(sender: SSRC, media: SSRC)
  case fullIntraRequest(sender: SSRC, media: SSRC)
  case transportFeedback(TransportFeedback)
}

public struct SenderReport: Sendable, Equatable {
  public var ssrc: SSRC
  public var ntp: NTPTime
  public var rtpTimestamp: UInt32
  public var packetCount: UInt32
  public var octetCount: UInt32
  public var blocks: [ReportBlock]

  public init(
    ssrc: SSRC, ntp: NTPTime, rtpTimestamp: UInt32, packetCount: UInt32, octetCount: UInt32, blocks: [ReportBlock] = []
  ) {
    self.ssrc = ssrc
    self.ntp = ntp
    self.rtpTimestamp = rtpTimestamp
    self.packetCount = packetCount
    self.octetCount = octetCount
    self.blocks = blocks
  }
}

public struct ReceiverReport: Sendable, Equatable {
  public var ssrc: SSRC
  public var blocks: [ReportBlock]

  public init(ssrc: SSRC, blocks: [ReportBlock]) {
    self.ssrc = ssrc
    self.blocks = blocks
  }
}

/// How one stream is received (RFC 3550, 6.4.1).
public struct ReportBlock: Sendable, Equatable {
  public var ssrc: SSRC
  /// Share lost since the last report, in 256ths.
  public var fractionLost: UInt8
  /// Packets lost so far; -8388608…8388607.
  public var cumulativeLost: Int
  public var highestSequence: UInt32
  /// In units of the stream's clock.
  public var jitter: UInt32
  public var lastSenderReport: UInt32
  /// In units of 1/65536 s.
  public var delaySinceLastSenderReport: UInt32

  public init(
    ssrc: SSRC, fractionLost: UInt8, cumulativeLost: Int, highestSequence: UInt32, jitter: UInt32,
    lastSenderReport: UInt32, delaySinceLastSenderReport: UInt32
  ) {
    self.ssrc = ssrc
    self.fractionLost = fractionLost
    self.cumulativeLost = cumulativeLost
    self.highestSequence = highestSequence
    self.jitter = jitter
    self.lastSenderReport = lastSenderReport
    self.delaySinceLastSenderReport = delaySinceLastSenderReport
  }
}

/// A request to send packets again (RFC 4585, 6.2.1).
public struct NegativeAcknowledgement: Sendable, Equatable {
  public var sender: SSRC
  public var media: SSRC
  public var lost: [SequenceNumber]

  public init(sender: SSRC, media: SSRC, lost: [SequenceNumber]) {
    self.sender = sender
    self.media = media
    self.lost = lost
  }
}
