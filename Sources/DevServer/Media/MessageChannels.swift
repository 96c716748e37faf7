import LiveKitProtocol
import Logging
import MediaCore
import PeerTransport
import SwiftProtobuf

/// The two data channels of a client's primary connection. Lives on the server's loop.
final class MessageChannels {
  private static let labels = (reliable: "_reliable", lossy: "_lossy")
  private let loop: TransportLoop
  private let logger: Logger
  private var open: [String: DataChannel] = [:]
  private var backlog = MessageBacklog()
  /// Nil until there is one, and after its end.
  weak var peer: PeerConnection?

  init(loop: TransportLoop, logger: Logger) { (self.loop, self.logger) = (loop, logger) }

  /// - Returns: whether both are open now.
  func opened(_ channel: DataChannel) -> Bool {
    open[channel.label] = channel
    sendBacklog()
    return areOpen
  }

  private var areOpen: Bool { open[Self.labels.reliable] != nil && open[Self.labels.lossy] != nil }

  /// Whether messages on a channel are repeated until they arrive; nil for one whose messages go nowhere.
  static func isReliable(_ label: String) -> Bool? {
    switch label {
    case labels.reliable: true
    case labels.lossy: false
    default: nil
    }
  }

  /// As from LiveKit's server, whoever is still joining gets what is numbered later, and nothing else.
  func send(_ packet: Livekit_DataPacket, isReliable: Bool) {
    guard areOpen || isReliable && packet.sequence > 0, let bytes = try? packet.serializedBytes() as [UInt8] else {
      return
    }
    guard isReliable else {
      if let channel = open[Self.labels.lossy] { peer?.send(bytes, on: channel) }
      return
    }
    if !backlog.add(bytes) { logger.warning("a message is left out: its receiver is too slow") }
    sendBacklog()
  }

  /// What there is no room for waits for it.
  private func sendBacklog() {
    guard areOpen, let peer, let channel = open[Self.labels.reliable] else { return }
    backlog.drain { peer.sendsOnLoop($0, on: channel) }
    guard !backlog.isEmpty, !backlog.isAwaitingRoom else { return }
    backlog.isAwaitingRoom = true
    let bound = LoopBound(Weak(self), on: loop)
    _ = loop.after(.milliseconds(5)) {
      bound.value.object?.backlog.isAwaitingRoom = false
      bound.value.object?.sendBacklog()
    }
  }
}
