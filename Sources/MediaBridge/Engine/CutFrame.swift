import MediaCore
import RTP

/// The rest of a frame behind lost packets, or behind those that came before the first one, where nothing is shown before
/// a keyframe. A depayloader would take a later slice of a keyframe of H.264, or a layer of VP9 above the lowest one, for
/// a whole keyframe.
struct CutFrame {
  private enum State {
    case none
    /// With the next packet.
    case begins
    /// With all that have this timestamp, up to this number; nil once its end was told.
    case goesOn(UInt32, SequenceNumber?)
  }

  /// Nil where the rest is of use.
  private let opensKeyframe: ((RTPPacket) -> Bool)?
  private var state = State.none
  private var end: SequenceNumber?

  /// - Parameter opensKeyframe: whether a packet is the first of a keyframe; nil where the rest of a frame is of use.
  init(opensKeyframe: ((RTPPacket) -> Bool)?) { self.opensKeyframe = opensKeyframe }

  /// Packets were lost ahead of the next one, or may have been.
  mutating func begin() { if opensKeyframe != nil { state = .begins } }

  /// Whether the packet that comes next is of the frame, and so of no use.
  mutating func contains(_ packet: RTPPacket) -> Bool {
    switch state {
    case .none: return false
    // Which frame it is shows the next one.
    case _ where packet.isPaddingOnly: return true
    // Behind a delimiter, too.
    case _ where opensKeyframe?(packet) == true:
      state = .none
      return false
    case .goesOn(let timestamp, let newest) where timestamp != packet.timestamp:
      end = newest ?? end
      state = .none
      return false
    case .goesOn(_, nil): return true
    case .begins, .goesOn: break
    }
    if packet.marker { end = packet.sequenceNumber }
    state = .goesOn(packet.timestamp, packet.marker ? nil : packet.sequenceNumber)
    return true
  }

  /// - Returns: its newest packet, once, when it has ended and no keyframe has begun behind it.
  mutating func takeEnd() -> SequenceNumber? {
    defer { end = nil }
    return end
  }
}
