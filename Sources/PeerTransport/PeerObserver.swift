public import MediaCore
public import RTP

/// A delegate made of closures that live on the peer's loop, for owners that live there, too.
public final class PeerObserver: PeerConnectionDelegate {
  /// One closure for each call of a delegate; those that are not set do nothing.
  public struct Handlers {
    /// A media packet that authenticated, and when it came.
    public var packet: (RTPPacket, MediaTime) -> Void = { _, _ in }
    /// The RTCP packets of one compound, and when it came.
    public var reports: ([RTCPPacket], MediaTime) -> Void = { _, _ in }
    /// A local candidate, for the peer to be told.
    public var candidate: (String) -> Void = { _ in }
    /// The transport's new state.
    public var state: (PeerState) -> Void = { _ in }
    /// A data channel that is open.
    public var channel: (DataChannel) -> Void = { _ in }
    /// A message, and the channel that it came on.
    public var message: ([UInt8], DataChannel) -> Void = { _, _ in }
    /// All do nothing.
    public init() {}
  }

  private let handlers: LoopBound<Handlers>

  /// - Parameter loop: the peer's; the handlers are called and let go of there.
  public init(loop: TransportLoop, handlers: Handlers) { self.handlers = LoopBound(handlers, on: loop) }

  public func peerConnection(_ peer: PeerConnection, didReceive packet: RTPPacket, at time: MediaTime) {
    handlers.value.packet(packet, time)
  }
  public func peerConnection(_ peer: PeerConnection, didReceive reports: [RTCPPacket], at time: MediaTime) {
    handlers.value.reports(reports, time)
  }
  public func peerConnection(_ peer: PeerConnection, didGather candidate: String) {
    handlers.value.candidate(candidate)
  }
  public func peerConnection(_ peer: PeerConnection, didChange state: PeerState) { handlers.value.state(state) }
  public func peerConnection(_ peer: PeerConnection, didOpen channel: DataChannel) { handlers.value.channel(channel) }
  public func peerConnection(
    _ peer: PeerConnection, didReceive message: [UInt8], isText: Bool, on channel: DataChannel
  ) {
    handlers.value.message(message, channel)
  }
}
