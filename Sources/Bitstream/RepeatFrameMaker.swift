/// An access unit, made without an encoder, that shows once more what is already in a decoder's references.
///
/// It changes nothing in the decoder: any number of them may stand between two units of the sender, which decode as if
/// these had not been there. It counts as no keyframe, also where it is the one that came last once more, as of AV1.
public struct RepeatFrame: Sendable, Equatable {
  /// The access unit, in the form of those that were followed.
  public var bytes: [UInt8]
  /// Whether it shows exactly the frame that was shown last. False when the sender's last frames were not kept as
  /// references (the upper temporal layers of scalable video): then it is the newest shown one that was.
  public var isLastShown: Bool
}

/// Follows a stream of access units and makes repeat frames that fit behind the last one, and black ones.
///
/// Whatever it is given, it does not trap: what cannot be read is not repeated.
public struct RepeatFrameMaker: Sendable {
  private var stream: any RepeatableStream

  /// Nil for a codec whose frames cannot be repeated.
  public init?(codec: VideoCodec) {
    switch codec {
    case .vp8: stream = VP8Stream()
    case .vp9: stream = VP9Stream()
    case .h264: stream = H264Stream()
    case .av1: stream = AV1Stream()
    case .h265: return nil
    }
  }

  /// Takes H.264's decoder configuration record, `codec_data` in caps: before the first unit, and when it changes.
  /// Without it H.264 is not repeated, since it says how long a unit's lengths are. Other codecs have none.
  public mutating func configure(_ codecData: UnsafeRawBufferPointer) { stream.configure(codecData) }

  /// Takes every access unit that a decoder of the recording will see, in its order, but no repeat frames: a VP8 frame,
  /// a VP9 frame or super-frame, a temporal unit of AV1, or an H.264 access unit of lengths and NAL units.
  public mutating func follow(_ unit: UnsafeRawBufferPointer) {
    // A unit without bytes leaves a decoder as it is.
    guard !unit.isEmpty else { return }
    stream.follow(unit)
  }

  /// The unit to show now, the same until another one is followed; nil before the first keyframe, behind a unit that
  /// could not be read, and where the format leaves no way.
  public func repeatFrame() -> RepeatFrame? { stream.repeatFrame() }

  /// A keyframe that is black, in the format and size of the unit that was shown last; to be followed, too. What the
  /// sender's next units show depends on what was before, so that only its next keyframe may come behind it. Nil before
  /// the first keyframe, and where it cannot be written: H.264 that is interlaced, has several slice groups, more than
  /// 8 bits or more colour than 4:2:0, VP9 of another profile than 0 or wider than 4096, and AV1.
  public func blackKeyframe() -> [UInt8]? { stream.blackKeyframe() }
}

/// What is known of a codec's stream: enough to show its last frame again, and a black one.
protocol RepeatableStream: Sendable {
  mutating func configure(_ codecData: UnsafeRawBufferPointer)
  mutating func follow(_ unit: UnsafeRawBufferPointer)
  func repeatFrame() -> RepeatFrame?
  func blackKeyframe() -> [UInt8]?
}

extension RepeatableStream {
  mutating func configure(_ codecData: UnsafeRawBufferPointer) {}
}
