public import MediaCore

/// Whether a decoder needs a keyframe that nobody asks for.
///
/// Of what it cannot decode an element of GStreamer posts nothing, unless its `max-errors` says so. Some ask for a
/// keyframe themselves (vp8dec, vp9dec, openh264dec); others (avdec_h264, avdec_vp8, av1dec) go on with what is wrong,
/// or make nothing until a keyframe comes. All mark the next frame that they make as one that does not follow on. Pure.
public struct DecoderCourse: Sendable {
  /// So long, and so many frames, a decoder may take in before something comes out: one of hardware is some behind.
  private static let patience = Duration.seconds(1)
  private static let fewest = 8

  /// A stream that stays wrong is not to cost its sender a keyframe each time.
  private var pause = RetryPause()
  private var isBroken = false
  /// What went in since something came out last, and when it began to.
  private var taken = 0
  private var begin: MediaTime?
  private var hasKeyframe = false

  /// Before the first frame.
  public init() {}

  /// A frame goes in.
  /// - Returns: whether a keyframe is to be asked for.
  public mutating func goesIn(isKeyframe: Bool, at time: MediaTime) -> Bool {
    if isKeyframe { (isBroken, hasKeyframe) = (false, true) }
    begin = begin ?? time
    taken += 1
    return asks(at: time)
  }

  /// A frame comes out.
  /// - Parameter isDiscontinuous: whether the decoder says that it does not follow on from the one before.
  /// - Returns: whether a keyframe is to be asked for.
  public mutating func comesOut(isDiscontinuous: Bool, at time: MediaTime) -> Bool {
    // What begins with a keyframe follows on from nothing.
    if isDiscontinuous, !hasKeyframe { isBroken = true }
    (taken, begin, hasKeyframe) = (0, nil, false)
    return asks(at: time)
  }

  private mutating func asks(at time: MediaTime) -> Bool {
    guard isBroken || isStuck(at: time), pause.isOver(at: time) else { return false }
    pause.next(at: time)
    return true
  }

  private func isStuck(at time: MediaTime) -> Bool {
    taken >= Self.fewest && begin.map { time - $0 >= Self.patience } == true
  }
}

/// Watches what goes into the decoder of a branch, and what comes out.
public final class DecoderWatch: Sendable {
  private let course = Locked(DecoderCourse())
  private let onKeyframeNeeded: @Sendable () -> Void

  /// - Parameter onKeyframeNeeded: called on a media thread.
  public init(onKeyframeNeeded: @escaping @Sendable () -> Void) { self.onKeyframeNeeded = onKeyframeNeeded }

  /// A frame goes in; called by one thread at a time.
  public func goesIn(isDelta: Bool) {
    if course.withLock({ $0.goesIn(isKeyframe: !isDelta, at: .now) }) { onKeyframeNeeded() }
  }

  /// A frame comes out; called by one thread at a time.
  public func comesOut(isDiscontinuous: Bool) {
    if course.withLock({ $0.comesOut(isDiscontinuous: isDiscontinuous, at: .now) }) { onKeyframeNeeded() }
  }
}
