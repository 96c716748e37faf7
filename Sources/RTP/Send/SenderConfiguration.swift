public import MediaCore

extension RTPSender {
  public struct Configuration: Sendable {
    public var ssrc: SSRC
    /// Ticks of the RTP timestamp per second.
    public var clockRate: UInt32
    /// How to send again; nil repeats the packet as it was.
    public var retransmission: Retransmission?
    /// Goes out with each report when it is not empty (RFC 3550, 6.5.1).
    public var cname: String
    /// Packets kept for retransmission.
    public var historyLength: Int
    public var historyAge: Duration
    /// Between two sender reports.
    public var reportInterval: Duration

    public init(
      ssrc: SSRC, clockRate: UInt32, retransmission: Retransmission? = nil, cname: String = "",
      historyLength: Int = 512,
      historyAge: Duration = .seconds(2), reportInterval: Duration = .seconds(1)
    ) {
      self.ssrc = ssrc
      self.clockRate = max(clockRate, 1)
      self.retransmission = retransmission
      self.cname = cname
      self.historyLength = historyLength
      self.historyAge = historyAge
      self.reportInterval = reportInterval
    }
  }

  /// The stream of retransmissions (RFC 4588, session multiplexing by SSRC).
  public struct Retransmission: Sendable {
    public var ssrc: SSRC
    /// For each payload type of the media the one of its retransmissions.
    public var payloadTypes: [PayloadType: PayloadType]
    public var firstSequenceNumber: SequenceNumber

    public init(
      ssrc: SSRC, payloadTypes: [PayloadType: PayloadType], firstSequenceNumber: SequenceNumber = SequenceNumber(1)
    ) {
      self.ssrc = ssrc
      self.payloadTypes = payloadTypes
      self.firstSequenceNumber = firstSequenceNumber
    }
  }
}
