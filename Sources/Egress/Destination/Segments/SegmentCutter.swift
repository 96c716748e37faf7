/// Where segments end. Pure.
///
/// A segment ends at a keyframe if the next one would come too late, going by how keyframes came before. Where none comes in
/// time, it ends without: a playlist promises the longest duration (RFC 8216, 4.3.3.1), and not that segments begin with
/// keyframes.
struct SegmentCutter: Sendable {
  /// Seconds that no segment's duration is above once it is rounded.
  let targetDuration: Int
  private let wanted: Duration
  private let limit: Duration
  /// The current segment's beginning; nil before the first frame.
  private(set) var begin: Duration?
  private var newest: Duration?
  /// How long the newest frame lasts, as far as that is known.
  private var lasting = Duration.zero
  private var keyframe: Duration?
  /// From the last keyframe but one to the last.
  private var keyframeGap: Duration

  /// - Parameter wanted: how long segments are to be.
  init(_ wanted: Duration) {
    self.wanted = wanted
    targetDuration = max(Int((wanted / .seconds(1)).rounded(.up)), 1)
    // A sender that was asked for a keyframe gets a moment more, which rounding takes away.
    limit = .seconds(targetDuration) + .milliseconds(400)
    keyframeGap = wanted
  }

  /// Takes a frame, or where there is no video a stretch of audio, which is a keyframe of its own.
  /// - Parameters:
  ///   - time: goes up.
  ///   - lasting: how long it is; nil to go by how long it was since the one before.
  /// - Returns: how long the segment was that ends in front of it; nil where it belongs to that.
  mutating func cut(at time: Duration, isKeyframe: Bool, lasting: Duration? = nil) -> Duration? {
    let gap = lasting ?? newest.map { time - $0 } ?? .zero
    defer { note(time, isKeyframe, gap) }
    guard let begin, time > begin else { return nil }
    let isOver =
      isKeyframe
      ? time - begin + max(keyframeGap, keyframe.map { time - $0 } ?? wanted) > wanted
      : time - begin + gap > limit
    guard isOver else { return nil }
    self.begin = time
    return time - begin
  }

  private mutating func note(_ time: Duration, _ isKeyframe: Bool, _ lasting: Duration) {
    (begin, newest, self.lasting) = (begin ?? time, time, lasting)
    guard isKeyframe else { return }
    if let keyframe { keyframeGap = time - keyframe }
    keyframe = time
  }

  /// How long the last segment is; nil where nothing came.
  var rest: Duration? {
    guard let begin, let newest else { return nil }
    return newest - begin + lasting
  }
}
