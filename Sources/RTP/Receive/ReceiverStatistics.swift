extension RTPReceiver {
  /// What a receiver has seen of its stream so far.
  public struct Statistics: Sendable, Equatable {
    /// Packets handed on, however they came.
    public var packetsReceived = 0
    /// Bytes of payload handed on.
    public var bytesReceived = 0
    /// Packets of the stream that did not come as sent (RFC 3550, A.3), whether or not they were repaired; without
    /// padding, of which only the sender is told that it was lost.
    public var packetsLost = 0
    /// Of those, how many came by retransmission or out of redundancy.
    public var packetsRecovered = 0
    /// Packets that had come before, by whichever way.
    public var packetsDuplicated = 0
    /// Padding without payload.
    public var paddingPackets = 0
    /// Neither the stream's nor its repair's, outside of the window, or not to be taken apart.
    public var packetsDiscarded = 0
    /// Packets of the stream of retransmissions, probes without payload among them.
    public var retransmissionsReceived = 0
    /// Bytes of payload of those.
    public var retransmittedBytes = 0
    /// NACK messages sent.
    public var nackRequests = 0
    /// Packets that those named; one that is asked for three times counts three times.
    public var nackedPackets = 0
    /// PLI messages sent.
    public var keyframeRequests = 0
    /// Keyframes whose first packet came.
    public var keyframesReceived = 0
    /// Seconds (RFC 3550, A.8).
    public var jitter = 0.0

    /// Everything 0.
    public init() {}
  }
}
