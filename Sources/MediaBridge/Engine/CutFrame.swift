import MediaCore
import RTP

/// The rest of a frame behind lost packets, behind those that came before the first one, or behind those that a server
/// left out, where nothing is shown before a keyframe. A depayloader would take a later slice of a keyframe of H.264,
/// or a layer of VP9 above the lowest one, for a whole keyframe.
struct CutFrame {
  private enum State: Equatable {
    case none
    /// With the next packet.
    case begins
    /// Behind parameter sets: whether with their slice, which is in another packet.
    case isOpen
    /// With all that have this timestamp, up to this number; nil once its end was told.
    case goesOn(UInt32, SequenceNumber?)
  }

  /// Nil where the rest is of use.
  private let keyframePart: ((RTPPacket) -> KeyframePart?)?
  /// The timestamp of the newest frame of which something has come with which a keyframe begins.
  private var keyframe: UInt32?
  /// That of the packet before.
  private var timestamp: UInt32?
  private var state = State.none
  private var end: SequenceNumber?

  /// - Parameter keyframePart: what a packet has of a keyframe's beginning; nil where the rest of a frame is of use.
  init(keyframePart: ((RTPPacket) -> KeyframePart?)?) { self.keyframePart = keyframePart }

  /// Packets were lost ahead of the next one, or may have been.
  mutating func begin() { if keyframePart != nil { state = .begins } }

  /// A keyframe, or another slice of one, begins with a packet that has come, and may still wait for those before it.
  mutating func noteKeyframe(_ timestamp: UInt32) { if keyframePart != nil { keyframe = timestamp } }

  /// Whether the packet that comes next is of the frame, and so of no use.
  mutating func contains(_ packet: RTPPacket) -> Bool {
    if packet.timestamp != timestamp, !packet.isPaddingOnly { noteFrame(of: packet) }
    if case .none = state { return false }
    // Which frame it is shows the next one.
    guard !packet.isPaddingOnly else { return state != .isOpen }
    switch (keyframePart?(packet), state) {
    case (.beginning?, _), (.firstSlice?, .isOpen): state = .none
    // Behind a delimiter, too, and in the middle of a keyframe: by themselves they do no harm.
    case (.parameterSets?, _): state = .isOpen
    case (nil, .isOpen): break
    case (_, .goesOn(let timestamp, let newest)) where timestamp != packet.timestamp:
      end = newest ?? end
      state = .none
    default:
      leaveOut(packet)
      return true
    }
    return false
  }

  /// LiveKit's server takes the parameter sets of any slice for a keyframe's beginning. Where it resumes, or changes to
  /// another layer, in the middle of one, its numbers go on as if nothing were missing.
  private mutating func noteFrame(of packet: RTPPacket) {
    timestamp = packet.timestamp
    // Where something was lost, that is being seen to.
    guard state == .none || state == .isOpen else { return }
    state = .none
    guard packet.timestamp == keyframe, let part = keyframePart?(packet) else { return }
    if part == .parameterSets || part == .laterSlice { state = .begins }
  }

  private mutating func leaveOut(_ packet: RTPPacket) {
    if case .goesOn(_, nil) = state { return }
    if packet.marker { end = packet.sequenceNumber }
    state = .goesOn(packet.timestamp, packet.marker ? nil : packet.sequenceNumber)
  }

  /// - Returns: its newest packet, once, when it has ended and no keyframe has begun behind it.
  mutating func takeEnd() -> SequenceNumber? {
    defer { end = nil }
    return end
  }
}
