import CNice
import CShims
import Glibc
import MediaCore
import Synchronization

/// One thread with one GLib main context, on which ICE, DTLS, SRTP and SCTP of any number of peer connections live.
///
/// What is posted runs in order. Hand-over goes through a `Locked` queue, because the thread sanitizer does not see
/// GLib's own locks.
///
/// `@unchecked Sendable`: `context` is thread-safe by GLib's contract for waking and attaching, `thread` is written
/// once before anyone else has the object, all else is `Locked`.
public final class TransportLoop: @unchecked Sendable {
  /// What runs on the loop's thread; it must not wait for anything, but for `linger`.
  public typealias Job = @Sendable () -> Void

  private struct State {
    var jobs: [Job] = []
    var isStopping = false
    var hasEnded = false
    var onEnd: (@Sendable () -> Void)?
  }

  let context: OpaquePointer
  private let name: String
  private let state = Locked(State())
  /// Held by whoever looks at what is left once the loop has stopped, and the thread that it is.
  private let exclusive = Locked(())
  private let visitor = Locked<pthread_t?>(nil)
  private var thread = pthread_t()
  /// Whether the thread has done all, after which another one may have its name.
  private let isOver = Atomic(false)

  /// - Parameter name: shown by thread listings; at most 15 characters.
  public init(name: String) {
    context = g_main_context_new()
    self.name = String(name.prefix(15))
    let box = Unmanaged.passRetained(self)
    let result = pthread_create(
      &thread, nil,
      { raw in
        let loop = Unmanaged<TransportLoop>.fromOpaque(raw!).takeUnretainedValue()
        loop.run()
        Unmanaged<TransportLoop>.fromOpaque(raw!).release()
        return nil
      }, box.toOpaque())
    precondition(result == 0, "pthread_create failed: \(result)")
  }

  deinit { g_main_context_unref(context) }

  /// Whether the caller is on the loop's thread, or is the one who cleans up after it has stopped.
  var isCurrent: Bool {
    pthread_equal(thread, pthread_self()) != 0 && !isOver.load(ordering: .relaxed) || isAfterwards
  }

  /// Whether the loop has stopped and this thread has what lived on it to itself.
  private var isAfterwards: Bool {
    visitor.withLock { $0 == pthread_self() }
  }

  /// Runs `job` on the loop's thread after what was posted before.
  /// - Returns: false when it is dropped, since the loop has stopped.
  @discardableResult
  public func post(_ job: @escaping Job) -> Bool {
    let (isAccepted, isFirst) = state.withLock { state in
      guard !state.hasEnded else { return (false, false) }
      state.jobs.append(job)
      return (true, state.jobs.count == 1)
    }
    // With others that wait the loop has been woken, or looks for more before it waits.
    if isFirst { g_main_context_wakeup(context) }
    return isAccepted
  }

  /// Runs `job` at once when this is the loop's thread, else posts it.
  /// - Returns: false when it is dropped, since the loop has stopped.
  @discardableResult
  public func run(_ job: @escaping Job) -> Bool {
    guard isCurrent else { return post(job) }
    job()
    return true
  }

  /// Runs `job` when this loop has done what it is at, before it waits again; nobody has to wake it for that. To be
  /// called on the loop.
  public func runBeforeWaiting(_ job: @escaping Job) {
    precondition(isCurrent, "called off the loop")
    state.withLock { $0.jobs.append(job) }
  }

  /// Has the thread sleep, so that what arrives meanwhile is taken in one round. All that lives on the loop waits: for
  /// about a millisecond, and no longer. To be called on the loop.
  public func linger(for time: Duration) {
    precondition(isCurrent, "called off the loop")
    usleep(UInt32(clamping: time.nanoseconds / 1000))
  }

  /// Runs `body` on the loop and returns what it returns. Calls of one actor run in their order. Once the loop has
  /// stopped it runs at once instead, one at a time: what lived on the loop may still be looked at, and nobody waits for
  /// ever.
  public nonisolated(nonsending) func call<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    // Not through the continuation, of whose order the thread sanitizer does not know.
    let result = Locked<Result?>(nil)
    await withCheckedContinuation { continuation in
      let isAccepted = post {
        let made = body()
        result.withLock { $0 = made }
        continuation.resume()
      }
      guard !isAccepted else { return }
      let made = afterwards(body)
      result.withLock { $0 = made }
      continuation.resume()
    }
    guard let made = result.withLock({ $0 }) else { preconditionFailure("the continuation was resumed before") }
    return made
  }

  private func afterwards<Result>(_ body: () -> Result) -> Result {
    exclusive.withLock { _ in
      visitor.withLock { $0 = pthread_self() }
      defer { visitor.withLock { $0 = nil } }
      return body()
    }
  }

  /// Runs `job` on the loop after `delay`, unless the returned timer is cancelled before.
  @discardableResult
  public func after(_ delay: Duration, _ job: @escaping Job) -> LoopTimer {
    let timer = LoopTimer(job)
    let milliseconds = UInt32(clamping: max(0, (delay.nanoseconds + 999_999) / 1_000_000))
    let context = UInt(bitPattern: self.context)
    run { timer.attach(milliseconds: milliseconds, context: OpaquePointer(bitPattern: context)!) }
    return timer
  }

  /// Runs what has been posted, ends the thread and waits for it. Nothing runs on the loop afterwards.
  public func stop() async {
    let isFirst = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
      let isFirst = state.withLock { state in
        guard !state.isStopping else { return false }
        state.isStopping = true
        state.onEnd = { continuation.resume(returning: true) }
        return true
      }
      if isFirst { g_main_context_wakeup(context) } else { continuation.resume(returning: false) }
    }
    if isFirst { pthread_join(thread, nil) }
  }

  private func run() {
    shim_name_thread(name)
    g_main_context_push_thread_default(context)
    while true {
      let (jobs, isStopping) = state.withLock { state -> ([Job], Bool) in
        // Most rounds have none, and taking them costs the next ones an allocation.
        guard !state.jobs.isEmpty else { return ([], state.isStopping) }
        defer { state.jobs = [] }
        return (state.jobs, state.isStopping)
      }
      for job in jobs { job() }
      if isStopping && jobs.isEmpty { break }
      let mayWait = !isStopping && (jobs.isEmpty || state.withLock { $0.jobs.isEmpty })
      g_main_context_iteration(context, mayWait ? 1 : 0)
    }
    while g_main_context_iteration(context, 0) != 0 {}
    g_main_context_pop_thread_default(context)
    finish()
  }

  /// Runs what was posted meanwhile, until there is none and none is taken any more.
  private func finish() {
    while true {
      let (jobs, onEnd) = state.withLock { state -> ([Job], (@Sendable () -> Void)?) in
        defer { (state.jobs, state.hasEnded) = ([], state.jobs.isEmpty) }
        return (state.jobs, state.jobs.isEmpty ? state.onEnd : nil)
      }
      for job in jobs { job() }
      guard jobs.isEmpty else { continue }
      state.withLock { $0.onEnd = nil }
      isOver.store(true, ordering: .relaxed)
      onEnd?()
      return
    }
  }
}

/// A job that a loop runs later. Cancelling it on the loop's thread is certain; from elsewhere it may just have run.
///
/// `@unchecked Sendable`: `state` is `Locked`, and GLib lets any thread destroy a source that it has a reference to.
public final class LoopTimer: @unchecked Sendable {
  /// `@unchecked Sendable`: the pointer counts as a reference, which one owner at a time gives up.
  private struct State: @unchecked Sendable {
    var job: TransportLoop.Job?
    var source: UnsafeMutablePointer<GSource>?
  }

  private let state: Locked<State>

  init(_ job: @escaping TransportLoop.Job) { state = Locked(State(job: job)) }

  /// The job does not run, unless it just has; what it held is let go of.
  public func cancel() {
    let source = take().source
    guard let source else { return }
    g_source_destroy(source)
    g_source_unref(source)
  }

  fileprivate func attach(milliseconds: UInt32, context: OpaquePointer) {
    guard let source = g_timeout_source_new(milliseconds) else { return }
    g_source_set_callback(
      source,
      { raw in
        Unmanaged<LoopTimer>.fromOpaque(raw!).takeUnretainedValue().fire()
        return 0
      }, Unmanaged.passRetained(self).toOpaque(), { raw in Unmanaged<LoopTimer>.fromOpaque(raw!).release() })
    g_source_attach(source, context)
    let isWanted = state.withLock { state in
      if state.job != nil { state.source = source }
      return state.job != nil
    }
    guard !isWanted else { return }
    // Cancelled before it was there.
    g_source_destroy(source)
    g_source_unref(source)
  }

  private func fire() {
    let taken = take()
    if let source = taken.source { g_source_unref(source) }
    taken.job?()
  }

  private func take() -> State {
    state.withLock { state in
      let taken = state
      state = State()
      return taken
    }
  }
}
