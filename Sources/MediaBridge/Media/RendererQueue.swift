import Dispatch
import MediaCore

/// How a renderer is called.
struct RendererCalls<Media: Sendable>: Sendable {
  /// Whether `render` returns at once, so that it may be called where the media comes from.
  var isPrompt = false
  /// What the renderer is to be told on the main actor before `render` gets this piece of media; nil for nothing. Asked
  /// once a piece, in order, on one thread at a time.
  var notice: @Sendable (Media) -> (@MainActor @Sendable () -> Void)? = { _ in nil }
  /// Holds the renderer.
  let render: @Sendable (Media) -> Void

  static func isPrompt(_ renderer: AnyObject) -> Bool { (renderer as? any PromptRenderer)?.isPrompt == true }
}

/// One renderer and what waits for it. Calls come one at a time, in order.
///
/// A renderer is a program's code: however quick it was so far, its next call may take seconds, and a thread that is in
/// a call cannot be taken out of it. So that such a call holds up nobody else, no thread that anybody else needs makes
/// it: each renderer is called on a queue of its own, and what it is too slow for is dropped there, the oldest first.
/// Waking that queue's thread costs some twenty microseconds a frame: a hundredth of what receiving one of 1280x720
/// takes, a twelfth of one of 320x180. Only those that say that they return at once
/// (`PromptRenderer`) are called on the media thread.
final class RendererQueue<Media: Sendable>: Sendable {
  private let state: Locked<RendererTurns<Media>>
  private let calls: RendererCalls<Media>
  private let patience: Duration
  private let gate = CallBarrier()
  private let queue = DispatchQueue(label: "mediabridge.renderer")

  /// - Parameters:
  ///   - limit: how much may wait.
  ///   - patience: how long what is to be rendered waits for the main actor. One that is busy for longer, or never
  ///     runs, is not waited for again until it has caught up.
  init(limit: Int, patience: Duration, calls: RendererCalls<Media>) {
    state = Locked(RendererTurns(limit: limit))
    self.patience = patience
    self.calls = calls
  }

  /// What was dropped because the renderer was too slow.
  var dropped: Int { state.withLock { $0.dropped } }

  func deliver(_ media: Media) {
    guard !calls.isPrompt else { return perform { calls.render(media) } }
    let now = MediaTime.now
    // What is dropped is let go of outside of the lock.
    let (begins, _) = state.withLock { $0.take(media, at: now) }
    if begins { queue.async { self.work() } }
  }

  private func work() {
    while let media = state.withLock({ $0.next() }) {
      if let notice = calls.notice(media), pauses(for: notice, before: media) { return }
      perform { calls.render(media) }
    }
  }

  private func perform(_ call: () -> Void) {
    gate.enter()
    defer { gate.leave() }
    // It may have been closed before the gate was entered; once it has been, `close` waits.
    guard !state.withLock({ $0.isClosed }) else { return }
    call()
  }

  /// No call comes after it returned, unless it was called from within one.
  func close() {
    // What waited is given back outside of the lock.
    _ = state.withLock { $0.close() }
    gate.waitForCallsUnderWay()
  }

  // MARK: The main actor

  /// Has the renderer told on the main actor. Nobody waits for that one: work goes on when it has been told, or after
  /// `patience`.
  /// - Returns: whether work is to pause.
  private func pauses(for notice: @escaping @MainActor @Sendable () -> Void, before media: Media) -> Bool {
    guard let pause = state.withLock({ $0.pause(for: notice, before: media) }) else { return false }
    Task { @MainActor [weak self] in self?.tell(pause) }
    patienceQueue.asyncAfter(deadline: .now() + .nanoseconds(Int(patience.nanoseconds))) { [weak self] in
      self?.resume(after: pause)
    }
    return true
  }

  @MainActor private func tell(_ pause: Int) {
    while let notice = state.withLock({ $0.takeNotice() }) { perform { notice() } }
    resume(after: pause)
  }

  private func resume(after pause: Int) {
    if state.withLock({ $0.endPause(pause) }) { queue.async { self.work() } }
  }
}

/// Where it is found that the main actor has taken too long: mostly it has not, and then no renderer's queue is woken.
private let patienceQueue = DispatchQueue(label: "mediabridge.renderer.patience")

/// What waits for one renderer, and who sees to it.
struct RendererTurns<Media> {
  /// So many times as much as usual may wait of what has come in no time, such as the frames behind one that was
  /// repaired: a renderer that has had no chance yet is not a slow one.
  private static var burst: Int { 4 }
  private static var noTime: Duration { .milliseconds(100) }

  private let limit: Int
  private var waiting: [(media: Media, since: MediaTime)] = []
  private(set) var isClosed = false
  private(set) var dropped = 0
  private var isWorking = false
  private var notice: (@MainActor @Sendable () -> Void)?
  /// Whether the main actor has been asked to tell something and has not yet.
  private var isTelling = false
  private var pauses = 0
  private var isPaused = false

  /// - Parameter limit: how much may wait.
  init(limit: Int) { self.limit = limit }

  /// - Returns: whether somebody has to begin to work, and what was dropped.
  mutating func take(_ media: Media, at time: MediaTime) -> (begins: Bool, dropped: Media?) {
    guard !isClosed else { return (false, media) }
    let oldest = isFull(at: time) ? waiting.removeFirst().media : nil
    if oldest != nil { dropped += 1 }
    waiting.append((media, time))
    defer { isWorking = true }
    return (!isWorking, oldest)
  }

  private func isFull(at time: MediaTime) -> Bool {
    guard waiting.count >= limit, let oldest = waiting.first else { return false }
    return waiting.count >= Self.burst * limit || time - oldest.since > Self.noTime
  }

  /// What is to be rendered next; nil ends the work.
  mutating func next() -> Media? {
    isWorking = !isClosed && !waiting.isEmpty
    return isWorking ? waiting.removeFirst().media : nil
  }

  mutating func close() -> [Media] {
    isClosed = true
    defer { (waiting, notice) = ([], nil) }
    return waiting.map(\.media)
  }

  /// Keeps what is to be told, of which the newest counts.
  /// - Returns: a number for the pause that it asks for; nil when the main actor is behind already.
  mutating func pause(for new: @escaping @MainActor @Sendable () -> Void, before media: Media) -> Int? {
    guard !isClosed else { return nil }
    notice = new
    guard !isTelling else { return nil }
    (isTelling, isPaused) = (true, true)
    pauses += 1
    waiting.insert((media, .now), at: 0)
    return pauses
  }

  mutating func takeNotice() -> (@MainActor @Sendable () -> Void)? {
    defer { notice = nil }
    isTelling = notice != nil
    return notice
  }

  /// - Returns: whether it was that pause that ended.
  mutating func endPause(_ number: Int) -> Bool {
    guard isPaused, pauses == number else { return false }
    isPaused = false
    return true
  }
}
