import GStreamerKit
import MediaBridge
import MediaCore

/// A line with what is placed on it: when each frame is shown or block of audio heard, and what stands in for those that do
/// not come.
struct MediaLine: Sendable {
  private(set) var line: FeedLine
  private(set) var timeline: OutputTimeline
  /// Stands in for video.
  private(set) var frames: FrameRepeater
  private let silence: MediaBuffer?
  /// Frames or blocks of audio that came.
  private(set) var written = 0
  /// Where nothing came.
  private(set) var gaps = GapLog()
  /// How late what comes is.
  private(set) var delay = MediaDelay()
  /// Whether something has come that belongs behind the end: all before it has.
  private var isPastEnd = false

  /// - Parameters:
  ///   - frames: stand in for video.
  ///   - silence: one step of it, for audio.
  ///   - before: the line whose place this one takes: times go on from there, and so do counts.
  init(_ line: FeedLine, frames: FrameRepeater, silence: MediaBuffer?, before: MediaLine? = nil) {
    self.line = line
    self.frames = frames
    self.silence = silence
    let isVideo = line.kind == .video
    timeline =
      before?.timeline ?? OutputTimeline(hasAudio: !isVideo, hasVideo: isVideo, beginsWithFrame: isVideo)
    (written, gaps) = (before?.written ?? 0, before?.gaps ?? GapLog())
  }

  /// What goes on as this does, on another line.
  func fork(to line: FeedLine) -> MediaLine {
    var fork = self
    fork.line = line
    return fork
  }

  /// Whether nothing has come for longer than a keyframe takes that is asked for.
  var isStill: Bool { timeline.length - gaps.end >= Self.stillness }
  private static let stillness = Duration.seconds(3)

  /// Whether media of that kind and form goes onto it.
  /// - Parameter voice: of whom alone; nil for all.
  func takes(_ kind: Track.Kind, voice: Int? = nil, isRaw: Bool) -> Bool {
    line.kind == kind && line.voice == voice && line.form.isRaw == isRaw
  }

  /// The moment zero of the job, which another line may have set.
  /// - Parameter start: since then, from when on there is to be media.
  mutating func begin(at origin: MediaTime, from start: Duration = .zero) {
    // What is mixed comes as much behind the longest line.
    line.begin(from: start - delay.expected)
    timeline.begin(at: origin, from: start)
  }

  /// What comes from here on is of another codec.
  mutating func change(to frames: FrameRepeater) { self.frames = frames }

  /// Has what is mixed of all waited for as long as that takes.
  mutating func expect(_ delays: [Track.Kind: Duration]) {
    if line.voice == nil { delay.expected = delays[line.kind] ?? .zero }
  }

  // MARK: Media

  /// - Returns: false for a frame that cannot be shown before a keyframe.
  mutating func show(_ frame: MediaBuffer, at time: MediaTime, now: MediaTime) -> Bool {
    guard frames.canShow(frame),
      let start = timeline.place(frameAt: time, isKeyframe: !frame.isDelta, now: now)
    else { return false }
    delay.note(now - time, at: now)
    frames.show(frame)
    line.push(frame, at: start)
    gaps.came(at: start)
    written += 1
    return true
  }

  /// What comes before the first moment is left out.
  mutating func hear(_ block: MediaBuffer, at time: MediaTime, now: MediaTime) {
    let duration = block.duration ?? SilenceFiller.step
    delay.note(now - time - duration, at: now)
    guard let place = timeline.place(audioAt: time, duration: duration, now: now) else { return }
    fill(OutputTimeline.Filling(silence: place.silence))
    line.push(block, at: place.start)
    gaps.came(at: place.start, for: duration)
    written += 1
  }

  /// Shows black from `time` on.
  /// - Parameter anew: also where it is black already, for one who needs a keyframe.
  /// - Returns: false when the stream's format leaves no way.
  mutating func blacken(at time: MediaTime, anew: Bool = false) -> Bool {
    guard timeline.origin != nil, anew || !frames.isBlack else { return true }
    guard let black = frames.blacken(anew: anew), let start = timeline.place(frameAt: time, isKeyframe: true, now: time)
    else {
      return false
    }
    line.push(black, at: start)
    return true
  }

  /// Shows no frame that needs what was left out.
  mutating func awaitKeyframe() { frames.awaitKeyframe() }

  // MARK: What stands in

  /// What is on its way only comes late on a busy machine, and nothing is to have taken its place by then.
  mutating func advance(to time: MediaTime) { fill(timeline.advance(to: time - delay.usual)) }

  /// Notes that something has come that belongs behind the end.
  mutating func passedEnd() { isPastEnd = true }

  /// Until when what is before `end` may still come; nil where all of it is there.
  func limit(for end: MediaTime) -> MediaTime? {
    guard let origin = timeline.origin, !isPastEnd, timeline.length + SilenceFiller.step < end - origin else {
      return nil
    }
    return delay.limit(for: end)
  }

  /// - Parameter length: of the longest line.
  mutating func complete(at time: MediaTime, length: Duration) {
    fill(timeline.complete(at: time, length: length))
    frames.forget()
  }

  private mutating func fill(_ filling: OutputTimeline.Filling) {
    if let silence { for start in filling.silence { line.push(silence, at: start, isStandIn: true) } }
    for start in filling.frames {
      guard let frame = frames.next() else { return }
      line.push(frame, at: start, isStandIn: true)
    }
  }
}
