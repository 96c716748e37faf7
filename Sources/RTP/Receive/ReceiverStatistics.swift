extension RTPReceiver {
  /// What a receiver has seen of its stream so far.
  public struct Statistics: Sendable, Equatable {
    /// Packets handed on, however they came.
    public var packetsReceived = 0
    /// Bytes of payload handed on.
    public var bytesReceived = 0
    /// Packets of the stream that did not come as sent (RFC 3550, A.3), whether or not they were repaired.
    public var packetsLost = 0
    /// Of those, how many came by retransmission or out of redundancy.
    public var packetsRecovered = 0
    public var packetsDuplicated = 0
    /// Padding without payload.
    public var paddingPackets = 0
    /// Neither the stream's nor its repair's, outside of the window, or not to be taken apart.
    public var packetsDiscarded = 0
    public var retransmissionsReceived = 0
    public var retransmittedBytes = 0
    public var nackRequests = 0
    public var nackedPackets = 0
    public var keyframeRequests = 0
    public var keyframesReceived = 0
    /// Seconds (RFC 3550, A.8).
    public var jitter = 0.0

    public init() {}
  }
}
