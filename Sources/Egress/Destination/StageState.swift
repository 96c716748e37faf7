import GStreamerKit
import MediaBridge
import MediaPipelines

/// How far a stage has come, and what went wrong with it.
struct StageState: Sendable {
  enum Phase: Sendable {
    /// Media waits.
    case waiting(StageHold, for: Awaited)
    case running
    /// Nobody writes it any more.
    case ended(Rest)
  }

  enum Awaited: Sendable {
    /// The stage before has to end first.
    case end
    /// It is being opened, which may take any time.
    case opening
  }

  /// What is known of a stage that has ended.
  struct Rest: Sendable {
    /// What it holds, where that can be read.
    var stored: StoredMedia?
    /// Whether it is written whole, and closed.
    var isComplete = false
    /// What each input had dropped.
    var dropped: [String: Int]
    /// How long the file was, which whoever is told of its end may move away.
    var bytes: Int64
  }

  private var phase: Phase
  /// Nil once it has stopped: a pipeline is not to be kept for as long as others are written.
  var pipeline: OutputPipeline?
  /// The moment of the job at which media came first; nil before.
  var beginning: Duration?
  /// How far what has come goes, since then.
  var reached = Duration.zero
  /// Whether a frame of the video has come.
  private var hasVideo = false
  /// It is to get nothing any more.
  var isAbandoned = false
  /// What it needs to be complete is being written: nothing more goes in.
  var isCompleting = false
  /// Why what is written does not end up under the file's name any more.
  var loss: LiveKitError?

  init(_ pipeline: OutputPipeline, _ hold: StageHold?) {
    self.pipeline = pipeline
    phase = hold.map { .waiting($0, for: .end) } ?? .running
  }

  /// Whether what is said now still goes in.
  var takesCaptions: Bool { hold == nil && !isOpening && !isCompleting }
  var hold: StageHold? { if case .waiting(let hold, for: .end) = phase { hold } else { nil } }
  /// Whether media waits since it is not open yet.
  var isOpening: Bool {
    if case .waiting(_, for: .opening) = phase { pipeline != nil && !isAbandoned } else { false }
  }
  /// How many buffers wait.
  var waiting: Int { if case .waiting(let hold, for: _) = phase { hold.waiting.count } else { 0 } }
  var rest: Rest? { if case .ended(let rest) = phase { rest } else { nil } }

  /// When a frame of video is shown: the first one from the beginning on. An encoder that was late may have left out what was
  /// before it, and a multiplexer without edit lists would move all of the video there, away from its audio.
  mutating func place(frameAt time: FeedTime) -> FeedTime {
    guard !hasVideo else { return time }
    hasVideo = true
    return FeedTime(shown: .zero, decoded: time.decoded.map { min($0, .zero) })
  }

  /// - Parameter isFull: whether a pipeline with room for so many more is full.
  /// - Returns: false where media does not wait.
  mutating func keep(_ held: StageHold.Held, isFull: (_ waiting: Int) -> Bool) -> Bool {
    guard case .waiting(var hold, let awaited) = phase else { return false }
    // Let go of first: the array is not to be copied.
    phase = .running
    hold.add(held, isFull: isFull(hold.waiting.count))
    phase = .waiting(hold, for: awaited)
    return true
  }

  /// Nobody writes it any more.
  mutating func end(_ rest: Rest) { (phase, pipeline) = (.ended(rest), nil) }

  /// It is written whole, and closed.
  mutating func complete() {
    guard case .ended(var rest) = phase else { return }
    rest.isComplete = true
    phase = .ended(rest)
  }

  /// It is being opened, and what waits goes on doing so.
  /// - Parameter new: for one that did not wait for another.
  mutating func open(_ new: StageHold) { phase = .waiting(hold ?? new, for: .opening) }

  /// It is open: nothing waits any more.
  /// - Returns: what did.
  mutating func begin() -> [StageHold.Held] {
    guard case .waiting(let hold, for: .opening) = phase else { return [] }
    phase = .running
    return hold.waiting
  }
}

/// What waits until the stage before has ended, or this one is open.
struct StageHold: Sendable {
  struct Held: Sendable {
    var media: MediaBuffer
    var input: String
    var time: FeedTime
  }

  private(set) var waiting: [Held] = []
  /// Called when media goes to it, and the one before is about to end; on a media thread.
  let onTaken: @Sendable () -> Void
  /// Called when it runs.
  let onBegun: @Sendable (OutputStage) -> Void
  let onFailure: @Sendable (LiveKitError) -> Void

  init(
    onTaken: @escaping @Sendable () -> Void = {}, onBegun: @escaping @Sendable (OutputStage) -> Void = { _ in },
    onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) { (self.onTaken, self.onBegun, self.onFailure) = (onTaken, onBegun, onFailure) }

  /// The same for one of which nothing waits.
  var emptied: StageHold { StageHold(onTaken: onTaken, onBegun: onBegun, onFailure: onFailure) }

  /// - Parameter isFull: whether the oldest of the same input goes for it, as frames and PCM do.
  mutating func add(_ held: Held, isFull: Bool) {
    if isFull, let index = waiting.firstIndex(where: { $0.input == held.input }) { waiting.remove(at: index) }
    waiting.append(held)
  }
}
