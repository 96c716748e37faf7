public import MediaCore

/// Which streams send padding behind each frame, so that what was lost of it is asked for early.
///
/// LiveKit's server asks for a packet when another one of the same stream comes, and 20 ms after it has noticed the loss
/// at the earliest (`mediatransportutil`, `nack.go`): one or two frames later, which is too late for a receiver that shows
/// each frame in its turn. The idea is that of TCP's tail loss probe (RFC 8985). Pure.
public struct TailProbes: Sendable {
  /// How long after the last packet of a frame the second probe goes. The first one, behind it, tells that the frame is
  /// over, and this one has what is missing asked for.
  public static let delay = Duration.milliseconds(21)
  /// Without a loss for so long, the link is taken for one that loses nothing.
  private static let memory = Duration.seconds(5)

  private var losses: [SSRC: MediaTime] = [:]

  /// Nothing was lost yet.
  public init() {}

  /// The receiver has asked for packets of a stream.
  public mutating func lost(of ssrc: SSRC, at time: MediaTime) { losses[ssrc] = time }

  /// Whether the frames of a stream are to be followed by probes.
  public func isWanted(for ssrc: SSRC, at time: MediaTime) -> Bool {
    losses[ssrc].map { time - $0 < Self.memory } ?? false
  }
}
