import CGStreamer
import MediaCore

/// The way of a pipeline's messages: from whatever thread posts them to the one bus thread, and from there to the
/// handler and to those who wait for the end of the stream.
final class BusDelivery: Sendable {
  typealias Handler = @Sendable (BusMessage) -> Void
  typealias Outcome = Result<Void, PipelineError>

  private struct State {
    var handler: Handler?
    var start = Start.none
    var isClosed = false
    var latency = Latency.known
    var firstError: PipelineError?
    var reachedEnd = false
    var nextWaiter = 0
    var waiters: [Int: @Sendable (Outcome) -> Void] = [:]
  }
  /// What becomes of `Pipeline.start`.
  private enum Start { case none, underWay, failed }
  /// Whether it is being found out anew, and has changed again meanwhile.
  private enum Latency { case known, asked, changed }
  private let state = Locked(State())

  func set(handler: Handler?) {
    state.withLock { state in
      if !state.isClosed { state.handler = handler }
    }
  }

  /// From here to `endStart` an error is kept for the caller of `Pipeline.start` instead of being delivered, and those that
  /// follow it are of no interest.
  func beginStart() { state.withLock { $0.start = .underWay } }

  /// - Parameter hasFailed: whether the state did not change.
  func endStart(hasFailed: Bool = false) -> PipelineError? {
    state.withLock { state in
      state.start = hasFailed || state.firstError != nil ? .failed : .none
      return state.firstError
    }
  }

  /// The first error of all.
  var error: PipelineError? { state.withLock { $0.firstError } }

  /// Calls `done` once: at the end of the stream, at the first error, or when the delivery is closed.
  /// - Returns: a number for `cancelWait`, or nil when `done` has been called already.
  func wait(_ done: @escaping @Sendable (Outcome) -> Void) -> Int? {
    let (number, outcome): (Int?, Outcome?) = state.withLock { state in
      if let error = state.firstError { return (nil, .failure(error)) }
      if state.reachedEnd { return (nil, .success(())) }
      if state.isClosed { return (nil, .failure(Self.stopped)) }
      state.nextWaiter += 1
      state.waiters[state.nextWaiter] = done
      return (state.nextWaiter, nil)
    }
    if let outcome { done(outcome) }
    return number
  }

  /// Calls the waiter with `outcome` unless something else was quicker.
  func cancelWait(_ number: Int, outcome: Outcome) {
    state.withLock { $0.waiters.removeValue(forKey: number) }?(outcome)
  }

  /// Nothing is delivered after this, except what a running call of the handler is at.
  func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      state.handler = nil
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter(.failure(Self.stopped)) }
  }

  private static let stopped = PipelineError(.stateChange, "the pipeline was stopped")

  /// On the posting thread: notes errors at once, so that a failing start finds them, and passes the rest on.
  func posted(_ message: BusMessage, by pipeline: UnsafeMutablePointer<GstElement>) {
    let deliver = state.withLock { state in
      guard case .error(let error) = message else { return !state.isClosed }
      state.firstError = state.firstError ?? error
      return state.start == .none && !state.isClosed
    }
    guard deliver else { return }
    if case .latencyChanged = message { return askForLatency(of: SharedElement(retaining: pipeline)) }
    SerialThread.bus.post { self.deliver(message) }
  }

  /// Takes the pipeline's state lock, which whoever stops it, or a branch of it, may have for long. No other pipeline is to
  /// wait for that, so it is not done on the bus thread.
  private func askForLatency(of pipeline: SharedElement) {
    let isFirst = state.withLock { state in
      defer { state.latency = state.latency == .known ? .asked : .changed }
      return state.latency == .known
    }
    guard isFirst else { return }
    startThread(name: "gst-latency") { [self] in
      repeat { gst_bin_recalculate_latency(pipeline.pointer.cast()) } while isLatencyToBeAskedForAgain()
      SerialThread.bus.post { self.deliver(.latencyChanged) }
    }
  }

  private func isLatencyToBeAskedForAgain() -> Bool {
    state.withLock { state in
      let isChanged = state.latency == .changed
      state.latency = isChanged ? .asked : .known
      return isChanged
    }
  }

  /// On the bus thread.
  func deliver(_ message: BusMessage) {
    let (handler, waiters) = state.withLock { state in
      let outcome: Outcome
      switch message {
      case .endOfStream:
        state.reachedEnd = true
        outcome = .success(())
      case .error(let error): outcome = .failure(error)
      default: return (state.handler, [Job]())
      }
      let jobs: [Job] = state.waiters.values.map { waiter in { waiter(outcome) } }
      state.waiters = [:]
      return (state.handler, jobs)
    }
    handler?(message)
    for waiter in waiters { waiter() }
  }
}

/// A reference to an element that travels between threads.
///
/// `@unchecked Sendable`: GObject counts references atomically, and GStreamer's element calls lock by themselves.
final class SharedElement: @unchecked Sendable {
  let pointer: UnsafeMutablePointer<GstElement>

  init(retaining pointer: UnsafeMutablePointer<GstElement>) {
    self.pointer = pointer
    gst_object_ref(pointer)
  }

  /// Takes over a reference that the caller owns.
  init(adopting pointer: UnsafeMutablePointer<GstElement>) { self.pointer = pointer }

  deinit { gst_object_unref(pointer) }
}
