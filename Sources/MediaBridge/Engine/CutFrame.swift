import RTP

/// The rest of a frame behind lost packets, where nothing is shown before a keyframe. A depayloader would take a later slice
/// of a keyframe of H.264, or a layer of VP9 above the lowest one, for a whole keyframe.
struct CutFrame {
  private enum State {
    case none
    /// With the next packet.
    case begins
    /// With all that have this timestamp.
    case goesOn(UInt32)
  }

  /// Nil where the rest is of use.
  private let opensKeyframe: ((RTPPacket) -> Bool)?
  private var state = State.none

  /// - Parameter opensKeyframe: whether a packet is the first of a keyframe; nil where the rest of a frame is of use.
  init(opensKeyframe: ((RTPPacket) -> Bool)?) { self.opensKeyframe = opensKeyframe }

  /// Packets were lost ahead of the next one.
  mutating func begin() { if opensKeyframe != nil { state = .begins } }

  mutating func end() { state = .none }

  /// Whether the packet that comes next is of the frame, and so of no use.
  mutating func contains(_ packet: RTPPacket) -> Bool {
    switch state {
    case .none: return false
    // Which frame it is shows the next one.
    case _ where packet.isPaddingOnly: return true
    // Behind a delimiter, too.
    case _ where opensKeyframe?(packet) == true: state = .none
    case .begins: state = .goesOn(packet.timestamp)
    case .goesOn(packet.timestamp): break
    case .goesOn: state = .none
    }
    if case .none = state { return false }
    return true
  }
}
