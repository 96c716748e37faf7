public import MediaCore
public import RTP

/// A delegate made of closures that live on the peer's loop, for owners that live there, too.
public final class PeerObserver: PeerConnectionDelegate {
  public struct Handlers {
    public var packet: (RTPPacket, MediaTime) -> Void = { _, _ in }
    public var reports: ([RTCPPacket], MediaTime) -> Void = { _, _ in }
    public var candidate: (String) -> Void = { _ in }
    public var state: (PeerState) -> Void = { _ in }
    public var channel: (DataChannel) -> Void = { _ in }
    public var message: ([UInt8], DataChannel) -> Void = { _, _ in }
    public init() {}
  }

  private let handlers: LoopBound<Handlers>

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
