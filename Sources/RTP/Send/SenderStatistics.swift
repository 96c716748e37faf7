extension RTPSender {
  /// What has been sent of a stream, and what the other side says of it.
  public struct Statistics: Sendable, Equatable {
    public var packetsSent = 0
    /// Bytes of payload.
    public var bytesSent = 0
    public var packetsRetransmitted = 0
    public var bytesRetransmitted = 0
    public var nackRequests = 0
    public var keyframeRequests = 0
    /// 0…1, of the last report.
    public var fractionLost = 0.0
    public var packetsLost = 0
    /// Nil until a report quotes one of ours.
    public var roundTripTime: Duration?
    /// Seconds.
    public var remoteJitter = 0.0

    public init() {}
  }
}
