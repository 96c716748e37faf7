/// Where segments end. Pure.
///
/// A segment ends at a keyframe if the next one would come too late, going by how keyframes came before. Where none comes in
/// time, it ends without: a playlist promises the longest duration (RFC 8216, 4.3.3.1), and not that segments begin with
/// keyframes. Right behind the keyframe that it begins with it does not, as where an encoder begins with two.
struct SegmentCutter: Sendable {
  /// A segment that has ended.
  struct Cut: Equatable, Sendable {
    var begin: Duration
    var duration: Duration
    /// Whether the frame before the one that came is in the next segment already: with it this one would be too long.
    var isBeforeLastFrame = false
  }

  /// Seconds that no segment's duration is above once it is rounded.
  let targetDuration: Int
  private let wanted: Duration
  private let limit: Duration
  /// So much longer than wanted is still what a playlist promises.
  private let slack: Duration
  /// The current segment's beginning; nil before the first frame.
  private(set) var begin: Duration?
  private var newest: Duration?
  /// How long the newest frame lasts, where it says so.
  private var lasting: Duration?
  /// From the last frame but one to the last.
  private var step = Duration.zero
  private var keyframe: Duration?
  /// From the last keyframe but one to the last.
  private var keyframeGap: Duration

  /// - Parameters:
  ///   - wanted: how long segments are to be.
  ///   - hasVideo: whether it is not known how soon the next keyframe comes; each stretch of audio is one.
  init(_ wanted: Duration, hasVideo: Bool = true) {
    self.wanted = wanted
    targetDuration = max(Int((wanted / .seconds(1)).rounded(.up)), 1)
    limit = .seconds(targetDuration) + .milliseconds(499)
    slack = min(wanted / 10, .milliseconds(400))
    keyframeGap = hasVideo ? wanted : .zero
  }

  /// Takes a frame, or where there is no video a stretch of audio, which is a keyframe of its own.
  /// - Parameters:
  ///   - time: goes up.
  ///   - lasting: how long it is; nil to go by how long it was since the one before.
  /// - Returns: the segments that have ended in front of it; none where it goes on with the one before.
  mutating func take(_ time: Duration, isKeyframe: Bool, lasting: Duration? = nil) -> [Cut] {
    defer { note(time, isKeyframe, lasting) }
    var cuts: [Cut] = []
    if let begin, let newest, newest > begin, time - begin > limit {
      cuts.append(cut(at: newest, from: begin, isBeforeLastFrame: true))
    }
    if let begin, time > begin, time - begin > limit || (isKeyframe && isNextTooLate(time, begin)) {
      cuts.append(cut(at: time, from: begin))
    }
    return cuts
  }

  private func isNextTooLate(_ time: Duration, _ begin: Duration) -> Bool {
    if let keyframe, keyframe >= begin, time - begin <= slack { return false }
    return time - begin + max(keyframeGap, keyframe.map { time - $0 } ?? wanted) > wanted
  }

  private mutating func cut(at time: Duration, from begin: Duration, isBeforeLastFrame: Bool = false) -> Cut {
    self.begin = time
    return Cut(begin: begin, duration: time - begin, isBeforeLastFrame: isBeforeLastFrame)
  }

  private mutating func note(_ time: Duration, _ isKeyframe: Bool, _ lasting: Duration?) {
    step = newest.map { time - $0 } ?? .zero
    (begin, newest, self.lasting) = (begin ?? time, time, lasting)
    guard isKeyframe else { return }
    if let keyframe { keyframeGap = time - keyframe }
    keyframe = time
  }

  /// The last segment; nil where nothing came.
  /// - Parameter end: of all, where that is known: a last stretch of audio may be shorter than the one before.
  func rest(until end: Duration?) -> Cut? {
    guard let begin, let newest else { return nil }
    let rest = lasting ?? end.map { max($0 - newest, .zero) } ?? step
    return Cut(begin: begin, duration: newest - begin + rest)
  }
}
