import Dispatch
import MediaCore

/// One renderer and what waits for it. Calls come one at a time, in order.
///
/// A renderer that has proved to be quick is called on the media thread, which saves waking another one for each
/// picture. A slow one is called on a queue of its own: what it is too slow for is dropped there, the oldest first, and
/// nobody else waits for it. Until it has proved itself a renderer counts as slow.
final class RendererQueue<Media: Sendable>: Sendable {
  private let state = Locked(RendererTurns<Media>())
  private let limit: Int
  private let call: @Sendable (Media) -> Void
  private let gate = CallGate()
  private let queue = DispatchQueue(label: "mediabridge.renderer")

  /// - Parameters:
  ///   - limit: how much may wait.
  ///   - call: calls the renderer.
  init(limit: Int, call: @escaping @Sendable (Media) -> Void) {
    self.limit = limit
    self.call = call
  }

  /// What was dropped because the renderer was too slow.
  var dropped: Int { state.withLock { $0.dropped } }

  func deliver(_ media: Media) {
    let (way, _) = state.withLock { $0.take(media, limit: limit) }
    switch way {
    case .here:
      perform(media)
      if state.withLock({ $0.endTurn() }) { queue.async { self.work() } }
    case .onQueue: queue.async { self.work() }
    case .waits: break
    }
  }

  private func work() {
    while let media = state.withLock({ $0.next() }) { perform(media) }
  }

  private func perform(_ media: Media) {
    gate.enter()
    defer { gate.leave() }
    // It may have been closed before the gate was entered; once it has been, `close` waits.
    guard !state.withLock({ $0.isClosed }) else { return }
    let begun = MediaTime.now
    call(media)
    let took = MediaTime.now - begun
    state.withLock { $0.note(took) }
  }

  /// No call comes after it returned, unless it was called from within one.
  func close() {
    let waiting = state.withLock { state in
      state.isClosed = true
      defer { state.waiting = [] }
      return state.waiting
    }
    // What waited is given back outside of the lock.
    _ = consume waiting
    gate.waitForCallsUnderWay()
  }
}

/// Whose turn it is to call one renderer.
private struct RendererTurns<Media> {
  enum Way {
    case here
    case onQueue
    case waits
  }

  /// A call shorter than this is a quick one.
  private static var quick: Duration { .milliseconds(2) }
  /// So many quick calls in a row prove a renderer to be quick.
  private static var proof: Int { 30 }

  var waiting: [Media] = []
  var isClosed = false
  private(set) var dropped = 0
  private var isCalling = false
  private var quickCalls = 0

  /// - Returns: who calls the renderer, and what was dropped for it, to be released outside of the lock.
  mutating func take(_ media: Media, limit: Int) -> (Way, dropped: Media?) {
    guard !isClosed else { return (.waits, media) }
    if !isCalling, quickCalls >= Self.proof {
      isCalling = true
      return (.here, nil)
    }
    var oldest: Media?
    if waiting.count >= limit {
      oldest = waiting.removeFirst()
      dropped += 1
    }
    waiting.append(media)
    guard !isCalling else { return (.waits, oldest) }
    isCalling = true
    return (.onQueue, oldest)
  }

  mutating func note(_ took: Duration) { quickCalls = took < Self.quick ? quickCalls + 1 : 0 }

  /// What is to be called with next; nil ends the turn.
  mutating func next() -> Media? {
    isCalling = !isClosed && !waiting.isEmpty
    return isCalling ? waiting.removeFirst() : nil
  }

  /// - Returns: whether something came meanwhile.
  mutating func endTurn() -> Bool {
    isCalling = !isClosed && !waiting.isEmpty
    return isCalling
  }
}
