import Dispatch
import Egress
import MediaBridge
import MediaCore

/// A reader that may be slow, and the thread that writes to it. Nobody else waits for it.
final class RawOutput: RawReceiver {
  /// What has become of a piece.
  enum Fate: Sendable {
    /// - Parameter number: how many were written before.
    case written(number: Int)
    case dropped
    /// It was told as written, and could not be.
    case lost
  }

  private struct State {
    var queue: RawQueue<RawNote>
    var header: [UInt8] = []
    var isWorking = false
    var hasBegun = false
    /// Pieces that the reader has taken or that are on their way to it.
    var taken = 0
    var written = 0
    /// Whether something was dropped.
    var isSlow = false
    var isEnding = false
    var isOver = false
    var failure: LiveKitError?
    var finished: CheckedContinuation<Void, Never>?
  }

  private let sink: any RawSink
  private let state: Locked<State>
  private let queue = DispatchQueue(label: "mediabridge.raw")
  private let limits: RawLimits
  private let say: @Sendable (String) -> Void
  private let tell: @Sendable (Fate, RawNote) -> Void

  /// - Parameters:
  ///   - say: for people: that the reader or the disk is too slow, and that it is waited for at the end.
  ///   - tell: what becomes of each piece that has a note, in order; called on any thread.
  init(
    _ sink: any RawSink, limits: RawLimits, say: @escaping @Sendable (String) -> Void,
    tell: @escaping @Sendable (Fate, RawNote) -> Void
  ) {
    (self.sink, self.limits, self.say, self.tell) = (sink, limits, say, tell)
    state = Locked(State(queue: RawQueue(limits)))
  }

  var name: String { sink.name }
  var keepsAll: Bool { sink.keepsAll }
  /// Why nothing is written any more.
  var failure: LiveKitError? { state.withLock { $0.failure } }

  func begin(header: [UInt8]) { state.withLock { $0.header = header } }

  func put(_ piece: RawPiece) {
    // It would only begin what is written, and empty a file that is kept until something comes.
    if case .text = piece.body, !sink.takesText { return }
    let (dropped, begins, isNews) = state.withLock { state -> ([RawPiece], Bool, Bool) in
      guard !state.isEnding, state.failure == nil else { return ([], false, false) }
      let dropped = state.queue.put(piece, at: .now)
      defer {
        state.isWorking = true
        state.isSlow = state.isSlow || !dropped.isEmpty
      }
      return (dropped, !state.isWorking, !state.isSlow && !dropped.isEmpty)
    }
    if isNews { say("\(sink.name): the \(taker) is too slow; \(fate) from now on, and counted") }
    for piece in dropped { if let note = piece.note { tell(.dropped, note) } }
    if begins { queue.async { self.work() } }
  }

  /// What becomes of what there is no room for.
  private var fate: String {
    let what = limits.age.map { "what has waited for \($0.seconds) s" } ?? "what there is no memory for"
    return limits.keepsLength ? "\(what) becomes silence" : "\(what) is dropped"
  }

  private func work() {
    do throws(LiveKitError) {
      let header = state.withLock { state -> [UInt8]? in
        defer { state.hasBegun = true }
        return state.hasBegun ? nil : state.header
      }
      if let header { try sink.begin(header: header) }
      while let (piece, number) = next() { try write(piece, number) }
    } catch { fail(error) }
  }

  private func write(_ piece: RawPiece, _ number: Int) throws(LiveKitError) {
    // Told first, so that who reads both has the line when the frame comes.
    if let note = piece.note { tell(.written(number: number), note) }
    do throws(LiveKitError) { try sink.write(piece, number: number) } catch {
      if let note = piece.note { tell(.lost, note) }
      throw error
    }
  }

  private func next() -> (RawPiece, Int)? {
    let (next, finished) = state.withLock { state -> ((RawPiece, Int)?, CheckedContinuation<Void, Never>?) in
      guard let piece = state.queue.take() else {
        state.isWorking = false
        defer { state.finished = nil }
        return (nil, state.finished)
      }
      state.taken += 1
      defer { state.written += piece.note == nil ? 0 : 1 }
      return ((piece, state.written), nil)
    }
    finished?.resume()
    return next
  }

  private func fail(_ error: LiveKitError) {
    let finished = state.withLock { state in
      state.failure = state.failure ?? error
      state.isWorking = false
      _ = state.queue.clear()
      defer { state.finished = nil }
      return state.finished
    }
    finished?.resume()
  }

  func look() {
    let isIdle = state.withLock { !$0.isWorking && !$0.isEnding && $0.failure == nil }
    if isIdle, sink.isHungUp { fail(RawDescriptor.gone(sink.name)) }
  }

  func finish(within patience: Duration) async {
    guard state.set(\.isOver, to: true) else { return }
    let timer = Task { await giveUp(after: max(patience, sink.patience)) }
    let notice = Task { await tellWait(after: patience) }
    defer { notice.cancel() }
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        state.isEnding = true
        if state.isWorking { state.finished = continuation }
        return !state.isWorking
      }
      if isDone { continuation.resume() }
    }
    timer.cancel()
    guard state.withLock({ !$0.isWorking }) else {
      // A reader that holds the thread up has been given up, and is ended once it does so no more.
      queue.async { [sink] in try? sink.end() }
      return
    }
    await withCheckedContinuation { continuation in
      queue.async { [sink, state] in
        do throws(LiveKitError) { try sink.end() } catch { state.withLock { $0.failure = $0.failure ?? error } }
        continuation.resume()
      }
    }
  }

  /// Says that one is waited for that is given longer than others.
  private func tellWait(after time: Duration) async {
    guard sink.patience > time else { return }
    try? await Task.sleep(for: time)
    guard !Task.isCancelled else { return }
    say("\(sink.name): waiting until it has done with what is left, for which it has \(sink.patience.seconds) s")
  }

  /// Waits for as long as the reader takes something, and then for no longer than `patience`.
  private func giveUp(after patience: Duration) async {
    var taken: Int?
    while true {
      let now = state.withLock { $0.taken }
      if now == taken { break }
      taken = now
      try? await Task.sleep(for: patience)
      if Task.isCancelled { return }
    }
    let lack = lack(taken, within: patience)
    let (left, finished) = state.withLock { state in
      let left = state.queue.clear()
      state.failure = state.failure ?? lack
      defer { state.finished = nil }
      return (left, state.finished)
    }
    for piece in left { if let note = piece.note { tell(.dropped, note) } }
    await sink.abandon()
    finished?.resume()
  }

  /// Whoever is given longer than others is to have all.
  private func lack(_ taken: Int?, within patience: Duration) -> LiveKitError {
    guard !keepsAll else {
      return LiveKitError(
        .output,
        "\(sink.name): its disk took nothing for \(patience.seconds) s, and the end is missing; see whether it answers",
        fault: .destination)
    }
    guard taken != 0 else { return RawDescriptor.unread(sink.name) }
    return LiveKitError(
      sink.patience > .zero ? .output : .readerGone,
      "\(sink.name): what waited at the end was not taken within \(patience.seconds) s", fault: .destination)
  }
}
