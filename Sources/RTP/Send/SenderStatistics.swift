extension RTPSender {
  /// What has been sent of a stream, and what the other side says of it.
  public struct Statistics: Sendable, Equatable {
    /// Packets of the stream, retransmissions not among them.
    public var packetsSent = 0
    /// Bytes of payload.
    public var bytesSent = 0
    /// Packets that were sent again.
    public var packetsRetransmitted = 0
    /// Bytes of payload of those.
    public var bytesRetransmitted = 0
    /// NACK messages that came.
    public var nackRequests = 0
    /// Requests for a keyframe that came, by PLI or a new FIR.
    public var keyframeRequests = 0
    /// 0…1, of the last report.
    public var fractionLost = 0.0
    /// Packets that never came since the beginning, by the last report.
    public var packetsLost = 0
    /// Nil until a report quotes one of ours.
    public var roundTripTime: Duration?
    /// Seconds.
    public var remoteJitter = 0.0

    /// Everything 0, and no round trip known.
    public init() {}
  }
}
