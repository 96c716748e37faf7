import Foundation
import MediaBridge
import MediaCore

/// Makes cues of what is transcribed while a job runs: one of each segment, once that stays as it is. Pure.
///
/// A cue begins when something of its segment came first, and ends when it was final, unless the sender says when it was said.
struct Captions: Sendable {
  struct Speaker: Hashable, Sendable {
    var identity: String
    /// For people.
    var name: String
  }

  private struct Key: Hashable {
    let identity: String
    let id: String
  }

  private struct Segment {
    var speaker: Speaker
    var text: String
    var start: Duration
    /// When it came last.
    var newest: Duration
  }

  private var open: [Key: Segment] = [:]
  /// The last segments of which there are cues: what still comes of them is late.
  private var done: [Key] = []
  /// When the oldest of what is still said began; nil where nothing is.
  var oldestStart: Duration? { open.values.map(\.start).min() }

  /// What says nothing any more for so long stays as it is.
  static let patience = Duration.seconds(10)
  /// What a sender says was said longer ago is not believed.
  static let longestAgo = Duration.seconds(60)
  /// Reading is slower than speaking, where a cue comes at once: a second at least, and up to seven.
  static let readable = (
    least: Duration.seconds(1), letter: Duration.milliseconds(50), most: Duration.seconds(7)
  )
  /// Senders that end nothing fill no memory.
  private static let most = 200

  // MARK: What comes

  /// - Parameters:
  ///   - now: of the job.
  ///   - place: the moment of the job that was so long ago; nil where that is cut out, as what is said in a pause is.
  /// - Returns: the cue, where the segment stays as it is.
  mutating func note(
    _ segment: TranscriptionSegment, of speaker: Speaker, at now: Duration, place: (Duration) -> Duration?
  ) -> CaptionCue? {
    let key = Key(identity: speaker.identity, id: segment.id)
    let text = segment.text.trimmingCharacters(in: .whitespacesAndNewlines)
    let known = open.removeValue(forKey: key)
    guard !text.isEmpty, !done.contains(key) else { return nil }
    let said = Self.ago(segment.startTime, segment.lastReceivedTime)
    guard let begun = said.flatMap(place) ?? known?.start ?? (said == nil ? place(.zero) : nil) else { return nil }
    let start = min(begun, now)
    guard segment.isFinal else {
      if open.count >= Self.most, let oldest = open.min(by: { $0.value.newest < $1.value.newest })?.key {
        open[oldest] = nil
      }
      open[key] = Segment(speaker: speaker, text: text, start: start, newest: now)
      return nil
    }
    let end = Self.ago(segment.endTime, segment.lastReceivedTime).flatMap(place) ?? now
    return cue(key, Segment(speaker: speaker, text: text, start: start, newest: max(end, start)))
  }

  /// - Parameter isOver: whether nothing comes any more.
  /// - Returns: the cues of what its sender has not ended, in their order.
  mutating func end(at now: Duration, isOver: Bool = false) -> [CaptionCue] {
    let stale = open.filter { isOver || now - $0.value.newest >= Self.patience }
    for key in stale.keys { open[key] = nil }
    return stale.sorted { ($0.value.start, $0.key.id) < ($1.value.start, $1.key.id) }.map { cue($0.key, $0.value) }
  }

  private mutating func cue(_ key: Key, _ segment: Segment) -> CaptionCue {
    if done.count >= Self.most { done.removeFirst() }
    done.append(key)
    let (least, letter, most) = Self.readable
    let end = max(segment.newest, segment.start + min(max(least, letter * segment.text.count), most))
    return CaptionCue(start: segment.start, end: end, speaker: segment.speaker.name, text: segment.text)
  }

  /// How long ago it is what a sender names in milliseconds since 1970; nil where it means something else.
  private static func ago(_ milliseconds: UInt64, _ date: Date) -> Duration? {
    let ago = date.timeIntervalSince1970 - Double(milliseconds) / 1000
    guard milliseconds > 0, (-1...longestAgo.seconds).contains(ago) else { return nil }
    return .milliseconds(Int64(ago * 1000))
  }
}
