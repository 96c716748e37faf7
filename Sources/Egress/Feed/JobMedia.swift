import GStreamerKit
import MediaBridge
import MediaCore

/// The tracks of a job's source on one timeline, in every form that one of its destinations wants. Media threads write
/// into it.
final class JobMedia: Sendable {
  private struct State {
    var lines: [MediaLine] = []
    /// Whether the first moment is a frame; otherwise black stands in until one comes.
    var beginsWithVideo: Bool
    /// Our time of the first moment.
    var origin: MediaTime?
    /// Whether no video is sent on purpose.
    var isMuted = false
    var isEnding = false
    /// From when on nothing is taken, in the job's time.
    var end: MediaTime?
    var clock = JobClock()
    /// Of what is mixed.
    var delays: [Track.Kind: Duration] = [:]
    /// Until the first moment.
    var early = EarlyAudio()

    func isTaken(at time: MediaTime) -> Bool { !isEnding && end.map { time < $0 } ?? true }
    /// How late it is, at the latest the end.
    func reading(at time: MediaTime) -> MediaTime {
      let time = clock.reading(at: time)
      return end.map { min($0, time) } ?? time
    }
  }

  private struct Outcome {
    var needsKeyframe = false
    var begins = false
  }

  /// As whoever runs the job looks.
  let sleeps = Locked(SleepLog())
  private let duration: Duration?
  private let onKeyframeNeeded: @Sendable () -> Void
  private let onBegin: @Sendable () -> Void
  /// Held while media is placed and queued, so that the queues get it in order; queueing never waits.
  private let state: Locked<State>

  /// - Parameters:
  ///   - beginsWithVideo: whether the first moment is a frame; otherwise black stands in until one comes.
  ///   - duration: after which nothing is taken; nil without a limit.
  ///   - onKeyframeNeeded: called when frames come that cannot be shown before a keyframe.
  ///   - onBegin: called at the first moment.
  init(
    beginsWithVideo: Bool, duration: Duration? = nil, onKeyframeNeeded: @escaping @Sendable () -> Void,
    onBegin: @escaping @Sendable () -> Void
  ) {
    state = Locked(State(beginsWithVideo: beginsWithVideo))
    self.duration = duration
    self.onKeyframeNeeded = onKeyframeNeeded
    self.onBegin = onBegin
  }

  // MARK: Lines

  /// Has what is mixed waited for as long as that takes at least.
  func expect(_ delays: [Track.Kind: Duration]) {
    state.withLock { state in
      state.delays = delays
      for index in state.lines.indices { state.lines[index].expect(delays) }
    }
  }

  /// - Parameter make: gets the line whose place it takes.
  func add(inPlaceOf old: FeedLine? = nil, _ make: (MediaLine?) -> MediaLine) {
    state.withLock { state in
      var made = make(state.lines.first { $0.line === old })
      made.expect(state.delays)
      // What one says comes sooner than the mix, and is to be there when that begins a part.
      let start = made.line.voice == nil ? Self.length(state) : state.lines.map(\.timeline.length).min()
      if let origin = state.origin { made.begin(at: origin, from: start ?? .zero) }
      state.lines.append(made)
    }
  }

  func remove(_ line: FeedLine) { state.withLock { $0.lines.removeAll { $0.line === line } } }

  /// Has another line go on as one does, for one of those who take that.
  func fork(_ line: FeedLine, to own: FeedLine) {
    state.withLock { state in
      for shared in state.lines where shared.line === line { state.lines.append(shared.fork(to: own)) }
    }
  }

  /// Whether nobody has sent anything on a line for a while, and black can stand in.
  func canBlacken(_ line: FeedLine) -> Bool {
    state.withLock { state in state.lines.contains { $0.line === line && $0.isStill && $0.frames.canBlacken } }
  }

  /// Has a line begin anew where nothing is sent that could, for one who needs a keyframe. It begins where the job is, which
  /// a sender's clock may have put some milliseconds ahead of now.
  /// - Parameter isOwn: whether nobody else takes it, who would lose the frame that is held while it is not muted.
  func blackenAnew(_ line: FeedLine, isOwn: Bool = false, at time: MediaTime = .now) {
    state.withLock { state in
      guard let origin = state.origin else { return }
      let time = max(state.clock.reading(at: time), origin + Self.length(state))
      guard state.isTaken(at: time) else { return }
      for index in state.lines.indices where state.lines[index].line === line {
        guard state.isMuted || isOwn && state.lines[index].isStill else { continue }
        _ = state.lines[index].blacken(at: time, anew: true)
      }
    }
  }

  /// What comes on a line is of another codec from here on.
  func change(_ line: FeedLine, to frames: FrameRepeater) {
    state.withLock { state in
      for index in state.lines.indices where state.lines[index].line === line { state.lines[index].change(to: frames) }
    }
  }

  /// Of the newest frame on a line, where its format says.
  func size(on line: FeedLine) -> Dimensions? {
    state.withLock { state in state.lines.first { $0.line === line }?.frames.size }
  }

  // MARK: Media

  /// One access unit, frame, packet or block of audio. What still comes of a muted camera is left out, but for the one
  /// that begins the job.
  /// - Parameter voice: of whom alone, which never begins it; nil for all.
  func write(_ media: MediaBuffer, _ kind: Track.Kind, voice: Int? = nil, isRaw: Bool) {
    guard let taken = media.pts else { return }
    let outcome = state.withLock { state -> Outcome in
      guard let time = state.clock.placed(taken) else { return Outcome() }
      guard state.isTaken(at: time) else {
        for index in state.lines.indices where state.lines[index].takes(kind, voice: voice, isRaw: isRaw) {
          state.lines[index].passedEnd()
        }
        return Outcome()
      }
      return kind == .video ? show(media, isRaw, at: time, &state) : hear(media, voice, isRaw, at: time, &state)
    }
    if outcome.needsKeyframe { onKeyframeNeeded() }
    if outcome.begins { onBegin() }
  }

  /// The first moment of a job without lines.
  func begin(at time: MediaTime) {
    let begins = state.withLock { state in
      defer { state.origin = state.origin ?? time }
      _ = state.early.take()
      return state.origin == nil
    }
    if begins { onBegin() }
  }

  /// Whether it has not begun, and waits for a frame.
  var awaitsFrame: Bool { state.withLock { $0.origin == nil && $0.beginsWithVideo } }
  /// Whether audio waits for it, too.
  var holdsAudio: Bool { state.withLock { !$0.early.isEmpty } }

  /// Has it begin with the audio that has come meanwhile, or comes next: black stands in for the frame that it was to begin
  /// with.
  func beginWithAudio() {
    let begins = state.withLock { state in
      guard state.origin == nil else { return false }
      state.beginsWithVideo = false
      for block in state.early.take() where state.isTaken(at: block.time) {
        _ = hear(block.media, block.voice, block.isRaw, at: block.time, &state)
      }
      return state.origin != nil
    }
    if begins { onBegin() }
  }

  private func show(_ frame: MediaBuffer, _ isRaw: Bool, at time: MediaTime, _ state: inout State) -> Outcome {
    guard !state.isMuted || state.origin == nil else { return Outcome() }
    let outcome = each(.video, nil, isRaw, &state) { $0.show(frame, at: time, now: $1) }
    if state.isMuted { _ = blacken(&state, at: time) }
    return outcome
  }

  private func hear(
    _ block: MediaBuffer, _ voice: Int?, _ isRaw: Bool, at time: MediaTime, _ state: inout State
  ) -> Outcome {
    guard state.origin != nil || (!state.beginsWithVideo && voice == nil) else {
      state.early.keep(EarlyAudio.Block(media: block, voice: voice, isRaw: isRaw, time: time))
      return Outcome()
    }
    return each(.audio, voice, isRaw, &state) { line, now in
      line.hear(block, at: time, now: now)
      return true
    }
  }

  /// It was not late: nothing else is to wait for as long.
  private func hearEarly(_ state: inout State) {
    for block in state.early.take() where state.isTaken(at: block.time) {
      for index in state.lines.indices
      where state.lines[index].takes(.audio, voice: block.voice, isRaw: block.isRaw) {
        state.lines[index].hear(block.media, at: block.time, now: block.time)
      }
    }
  }

  private func each(
    _ kind: Track.Kind, _ voice: Int?, _ isRaw: Bool, _ state: inout State,
    _ body: (inout MediaLine, _ now: MediaTime) -> Bool
  ) -> Outcome {
    var outcome = Outcome()
    let now = state.clock.reading(at: .now)
    for index in state.lines.indices where state.lines[index].takes(kind, voice: voice, isRaw: isRaw) {
      if !body(&state.lines[index], now) { outcome.needsKeyframe = true }
      guard state.origin == nil, let origin = state.lines[index].timeline.origin else { continue }
      state.origin = origin
      if let duration { state.end = min(state.end ?? origin + duration, origin + duration) }
      outcome.begins = true
      for index in state.lines.indices { state.lines[index].begin(at: origin) }
    }
    if outcome.begins { hearEarly(&state) }
    return outcome
  }

  /// Says whether video is not sent on purpose: it is muted, or no longer published. From `time` on the job is black
  /// then, and afterwards until the first frame that can be shown.
  /// - Returns: false when a line shows the last frame instead, because black cannot be written in its format.
  func setMuted(_ isMuted: Bool, at time: MediaTime = .now) -> Bool {
    state.withLock { state in
      let time = state.clock.reading(at: time)
      guard state.isMuted != isMuted, state.isTaken(at: time) else { return true }
      state.isMuted = isMuted
      return isMuted ? blacken(&state, at: time) : true
    }
  }

  /// Without a first moment there is nothing to be shown on.
  private func blacken(_ state: inout State, at time: MediaTime) -> Bool {
    var isBlack = true
    for index in state.lines.indices where state.lines[index].line.kind == .video {
      if !state.lines[index].blacken(at: time) { isBlack = false }
    }
    return isBlack
  }

  // MARK: Time

  /// Keeps outputs growing when nothing arrives: a muted participant is silence and black, not a shorter file.
  func advance(to time: MediaTime) {
    state.withLock { state in
      guard !state.isEnding else { return }
      let time = state.reading(at: time)
      for index in state.lines.indices { state.lines[index].advance(to: time) }
    }
  }

  /// Takes nothing that is of a later moment.
  func end(at time: MediaTime) { state.withLock { $0.end = $0.reading(at: time) } }

  /// Waits for what is on its way since before the end, which on a busy machine is seconds.
  func awaitEnd() async {
    while let rest = state.withLock({ Self.rest($0, at: .now) }), rest > .zero {
      try? await Task.sleep(for: min(rest, .milliseconds(20)))
    }
  }

  /// How long media may still come; nil where all is there.
  private static func rest(_ state: State, at now: MediaTime) -> Duration? {
    // While it is paused its time stands still, and nothing that comes is taken.
    guard let end = state.end, state.origin != nil, !state.isEnding, !state.clock.isPaused else { return nil }
    return state.lines.compactMap { $0.limit(for: end) }.max().map { $0 - state.clock.reading(at: now) }
  }

  /// Makes all lines equally long; nothing is taken any more.
  /// - Parameter time: until when it is to last where nothing comes any more.
  func complete(at time: MediaTime) {
    state.withLock { state in
      guard !state.isEnding else { return }
      let (time, length) = (state.reading(at: time), Self.length(state))
      for index in state.lines.indices { state.lines[index].complete(at: time, length: length) }
      state.isEnding = true
    }
  }

  // MARK: Pauses

  /// Cuts out what is from then on, of video and audio alike, until it goes on.
  /// - Returns: whether it was going on.
  func pause(at time: MediaTime) -> Bool { state.withLock { $0.clock.pause(at: time) } }

  /// Goes on; video that is taken as it was sent does so at its next keyframe.
  /// - Returns: whether it was paused.
  func resume(at time: MediaTime) -> Bool {
    let wasPaused = state.withLock { state in
      guard state.clock.resume(at: time) else { return false }
      for index in state.lines.indices { state.lines[index].awaitKeyframe() }
      return true
    }
    if wasPaused { onKeyframeNeeded() }
    return wasPaused
  }

  var isPaused: Bool { state.withLock { $0.clock.isPaused } }

  /// How long it has gone on since a moment, without pauses; also before its first one.
  func time(since start: MediaTime, at now: MediaTime = .now) -> Duration {
    state.withLock { $0.clock.reading(at: now) - $0.clock.reading(at: start) }
  }

  /// How long it goes on already, without pauses; zero before its first moment.
  func age(at time: MediaTime) -> Duration {
    state.withLock { state in state.origin.map { state.clock.reading(at: time) - $0 } ?? .zero }
  }

  /// The moment of the job at which something took place, zero for what was before its first one; nil for what is cut out.
  func placed(_ time: MediaTime) -> Duration? {
    state.withLock { state -> Duration? in
      guard let origin = state.origin, let placed = state.clock.placed(time) else { return nil }
      return max(placed - origin, .zero)
    }
  }

  /// Our time of the first moment.
  var origin: MediaTime? { state.withLock { $0.origin } }
  /// When it was that a moment of the job took place, with the pauses; nil before its first one.
  func moment(of time: Duration) -> MediaTime? {
    state.withLock { state in state.origin.map { state.clock.moment(of: $0 + time) } }
  }
  /// How long the machine was up then, with the time that it slept.
  func uptime(at time: MediaTime) -> Duration { sleeps.withLock { $0.uptime(at: time) } }

  /// Media written.
  var length: Duration { state.withLock { Self.length($0) } }

  private static func length(_ state: State) -> Duration { state.lines.map(\.timeline.length).max() ?? .zero }

  /// Where nothing of a kind came for a while.
  func gaps(_ kind: Track.Kind) -> [GapLog.Gap] {
    state.withLock { state in
      state.lines.first { $0.line.kind == kind && $0.line.voice == nil }?.gaps.gaps(until: Self.length(state)) ?? []
    }
  }

  /// Frames or blocks of audio that came on a line.
  func written(on line: FeedLine) -> Int {
    state.withLock { state in state.lines.first { $0.line === line }?.written ?? 0 }
  }
}
