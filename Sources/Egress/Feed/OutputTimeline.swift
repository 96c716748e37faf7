import MediaCore

/// Where in a file each frame and each block of audio goes, and what stands in for those that do not come: a
/// multiplexer writes nothing of one track before it knows how the other one goes on.
///
/// Pure: it says what to write for what arrives.
struct OutputTimeline: Sendable {
  /// What stands in: where exact silence and repeat frames begin.
  struct Filling: Equatable, Sendable {
    var silence: [Duration] = []
    var frames: [Duration] = []
  }

  /// Our time of the file's first moment.
  private(set) var origin: MediaTime?
  /// Where the newest frame was placed, repeated or not.
  private(set) var lastFrame: Duration?
  private let hasAudio: Bool
  private let hasVideo: Bool
  /// Whether the file begins with a frame of its own; otherwise a repeat frame begins it.
  private let beginsWithFrame: Bool
  private var silence = SilenceFiller()
  /// Where what stands in begins: what is made later has no past.
  private var start = Duration.zero

  /// How long late media may still come before something stands in for it.
  static let patience = Duration.milliseconds(1500)
  /// How much of the end may be missing before something stands in for it: by a frame or two nobody notices.
  static let lastPatience = Duration.milliseconds(200)
  /// How far ahead of now a sender's clock may place its media.
  static let foresight = Duration.seconds(1)
  /// How long ago the first moment may have been: media has waited a while for the file to be made.
  static let hindsight = Duration.seconds(10)
  /// From one repeat frame to the next: a kill loses about as much.
  static let repeatStep = Duration.milliseconds(500)
  private static let lastStep = Duration.milliseconds(40)
  private static let least = Duration.milliseconds(1)

  init(hasAudio: Bool, hasVideo: Bool, beginsWithFrame: Bool) {
    self.hasAudio = hasAudio
    self.hasVideo = hasVideo
    self.beginsWithFrame = hasVideo && beginsWithFrame
  }

  /// Has the file begin at a moment that something else has set, such as the track beside this one.
  /// - Parameter start: since then, from when on there is to be media.
  mutating func begin(at time: MediaTime, from start: Duration = .zero) {
    guard origin == nil else { return }
    (origin, self.start) = (time, start)
    silence.begin(at: start)
  }

  /// Media written.
  var length: Duration { max(lastFrame ?? .zero, silence.end) }

  /// Where a frame goes; nil when the file cannot begin with it. Times go up, whatever a clock's correction says.
  mutating func place(frameAt time: MediaTime, isKeyframe: Bool, now: MediaTime) -> Duration? {
    let time = min(time, now + Self.foresight)
    if origin == nil && isKeyframe { origin = max(time, now - Self.hindsight) }
    guard let origin else { return nil }
    let start = max(time - origin, .zero, lastFrame.map { $0 + Self.least } ?? .zero)
    lastFrame = start
    return start
  }

  /// Where audio goes, and the silence before it; nil for what comes before the file's first moment or twice.
  mutating func place(
    audioAt time: MediaTime, duration: Duration, now: MediaTime
  ) -> (start: Duration, silence: [Duration])? {
    let time = min(time, now + Self.foresight)
    if origin == nil && !beginsWithFrame { origin = max(time, now - Self.hindsight) }
    guard let origin, time >= origin, let gap = silence.gap(before: time - origin) else { return nil }
    return (silence.wrote(time - origin, duration), gap)
  }

  /// What stands in for media that should have come by now.
  mutating func advance(to time: MediaTime) -> Filling {
    guard let origin else { return Filling() }
    return fill(upTo: time - origin - Self.patience)
  }

  /// What makes both tracks equally long at the end. When nothing has come for a while the file lasts until then.
  /// - Parameter whole: media written of all that is to be as long; nil for what is placed here.
  mutating func complete(at time: MediaTime, length whole: Duration? = nil) -> Filling {
    guard let origin else { return Filling() }
    let length = max(length, whole ?? .zero)
    let rest = time - origin - length
    return fill(upTo: rest > Self.lastPatience ? time - origin : length, isEnd: true)
  }

  private mutating func fill(upTo limit: Duration, isEnd: Bool = false) -> Filling {
    var filling = Filling()
    if hasAudio { filling.silence = silence.fill(upTo: limit) }
    guard hasVideo else { return filling }
    if lastFrame == nil, start == .zero || isEnd || limit >= start { hold(at: start, &filling) }
    while let next = lastFrame.map({ $0 + Self.repeatStep }), next <= (isEnd ? limit - Self.repeatStep : limit) {
      hold(at: next, &filling)
    }
    guard isEnd, let last = lastFrame, limit - last > Self.repeatStep / 2 else { return filling }
    // Files say how long the last frame lasts by the one before it: two of them end with the audio.
    hold(at: limit - Self.lastStep * 2, &filling)
    hold(at: limit - Self.lastStep, &filling)
    return filling
  }

  private mutating func hold(at start: Duration, _ filling: inout Filling) {
    lastFrame = start
    filling.frames.append(start)
  }
}
