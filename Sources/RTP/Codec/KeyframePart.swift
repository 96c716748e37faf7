public import MediaCore

/// What a packet has of the beginning of a keyframe.
public enum KeyframePart: Sendable {
  /// All of it: parameter sets and the first slice behind them; of codecs that have neither, the frame's beginning.
  case beginning
  /// Parameter sets, of H.265 its video or sequence one. Which slice they are for shows the next one: some senders, as
  /// GStreamer's up to 1.22, put them in front of each.
  case parameterSets
  /// The first slice, whose parameter sets are elsewhere.
  case firstSlice
  /// Another slice. Whoever begins with it has a damaged frame, of which no decoder complains.
  case laterSlice

  /// What two units, or packets, are together of which one follows the other.
  static func joined(_ before: KeyframePart?, with next: KeyframePart?) -> KeyframePart? {
    before == .parameterSets && next == .firstSlice ? .beginning : next ?? before
  }
}

extension PacketSequencer {
  /// A number at the beginning of a keyframe of which every packet waits, that of its first slice; nil where none does.
  /// - Parameter part: what a packet has of a keyframe's beginning.
  public func wholeKeyframe(_ part: (RTPPacket) -> KeyframePart?) -> SequenceNumber? {
    var before: (part: KeyframePart?, number: SequenceNumber)?
    return wholeFrame { packet in
      let isNext = before?.number.successor == packet.sequenceNumber
      let joined = KeyframePart.joined(isNext ? before?.part : nil, with: part(packet))
      before = (joined, packet.sequenceNumber)
      return joined == .beginning
    }
  }
}
