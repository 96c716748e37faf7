import CGStreamer
import CShims
public import MediaCore

extension Pipeline {
  /// Makes `time` the moment zero of this pipeline; call it before `start`. For mixers, which begin at zero and would have
  /// to mix the silence since the clock's own beginning first. What is pushed is to be timed from there, too.
  public func setOrigin(_ time: MediaTime) { gst_element_set_base_time(element, MediaTime?(time).clockTime) }

  /// Starts the flow of data. Errors that an element reports while it starts, such as a file that cannot be opened,
  /// are thrown; later ones arrive at `onMessage`.
  public func start() throws(PipelineError) {
    delivery.beginStart()
    let result = gst_element_set_state(element, GST_STATE_PLAYING)
    let error = delivery.endStart(hasFailed: result == GST_STATE_CHANGE_FAILURE)
    drawing.draw(element, error == nil ? .start : .error)
    if let error { throw error }
    if result == GST_STATE_CHANGE_FAILURE { throw PipelineError(.stateChange, "the pipeline did not start") }
  }

  /// As `start()`, on a thread of its own and for destinations that may not answer; returns when data flows. When
  /// `timeLimit` has passed the start is left to itself, and the pipeline is to be stopped.
  /// - Throws: in that case an error of kind `timeLimit`.
  public func start(timeLimit: Duration) async throws(PipelineError) {
    let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<BusDelivery.Outcome, Never>) in
      let once = Once<BusDelivery.Outcome> { continuation.resume(returning: $0) }
      let timer = Task {
        try? await Task.sleep(for: timeLimit)
        once.call(.failure(PipelineError(.timeLimit, "the pipeline did not start within \(timeLimit)")))
      }
      startThread(name: "gst-start") { [self] in
        once.call(Result { () throws(PipelineError) in try startAndWait(timeLimit) })
        timer.cancel()
      }
    }
    try outcome.get()
  }

  /// A pipeline that is still on its way to playing would be kept from it by the error of any of its elements.
  private func startAndWait(_ timeLimit: Duration) throws(PipelineError) {
    try start()
    let result = gst_element_get_state(element, nil, nil, GstClockTime(max(timeLimit.nanoseconds, 0)))
    guard result == GST_STATE_CHANGE_FAILURE else { return }
    throw delivery.error ?? PipelineError(.stateChange, "the pipeline did not start")
  }

  /// Gets ready to play, on a thread of its own: returns when it is known what there is.
  /// - Throws: why there is nothing, and an error of kind `timeLimit`.
  public func prepare(timeLimit: Duration = .seconds(10)) async throws(PipelineError) {
    let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<BusDelivery.Outcome, Never>) in
      startThread(name: "gst-prepare") { [self] in
        continuation.resume(returning: Result { () throws(PipelineError) in try prepareAndWait(timeLimit) })
      }
    }
    try outcome.get()
  }

  private func prepareAndWait(_ timeLimit: Duration) throws(PipelineError) {
    delivery.beginStart()
    gst_element_set_state(element, GST_STATE_PAUSED)
    let result = gst_element_get_state(element, nil, nil, GstClockTime(max(timeLimit.nanoseconds, 0)))
    if let error = delivery.endStart(hasFailed: result == GST_STATE_CHANGE_FAILURE) { throw error }
    if result == GST_STATE_CHANGE_ASYNC {
      throw PipelineError(.timeLimit, "the pipeline was not ready within \(timeLimit)")
    }
    if result == GST_STATE_CHANGE_FAILURE { throw PipelineError(.stateChange, "the pipeline did not start") }
  }

  /// Stops the flow of data until the next `start`.
  public func pause() { gst_element_set_state(element, GST_STATE_PAUSED) }

  /// Ends every source and waits until all sinks have written what there was.
  ///
  /// - Parameters:
  ///   - timeLimit: the longest wait in which nothing moves.
  ///   - progress: a number that changes while something does; asked once a `timeLimit`. An encoder on a busy machine may
  ///     take longer for what is queued than a pipeline that hangs is to be waited for.
  /// - Throws: the error that kept the pipeline from its end, or one of kind `timeLimit`.
  public func sendEndOfStream(
    timeLimit: Duration = .seconds(10), progress: @escaping @Sendable () -> Int = { 0 }
  ) async throws(PipelineError) {
    endSources()
    try await endOfStream(timeLimit: timeLimit, progress: progress)
  }

  /// Waits for the end of the stream, without causing it.
  public func endOfStream(
    timeLimit: Duration, progress: @escaping @Sendable () -> Int = { 0 }
  ) async throws(PipelineError) {
    let delivery = delivery
    let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<BusDelivery.Outcome, Never>) in
      guard let waiter = delivery.wait({ continuation.resume(returning: $0) }) else { return }
      // The sleeping task holds no reference to the pipeline and finds nothing to do when the end came first.
      Task {
        var last: Int
        repeat {
          last = progress()
          try? await Task.sleep(for: timeLimit)
        } while progress() != last
        let error = PipelineError(.timeLimit, "no end of stream within \(timeLimit)")
        delivery.cancelWait(waiter, outcome: .failure(error))
      }
    }
    try outcome.get()
  }

  /// Stops the pipeline and frees what it uses.
  ///
  /// Once this has returned true, no call-back of the pipeline, its sources, sinks or probes runs or will run; their
  /// closures have been released. It may be called from anywhere, call-backs included, and more than once.
  /// - Returns: false when an element did not stop within `timeLimit`; it is then left to itself.
  @discardableResult
  public func stop(timeLimit: Duration = .seconds(5)) async -> Bool {
    await withCheckedContinuation { continuation in
      stop(timeLimit: timeLimit) { continuation.resume(returning: $0) }
    }
  }

  /// As `stop(timeLimit:)`, for callers that cannot wait. `completion` is called once, on any thread.
  public func stop(timeLimit: Duration = .seconds(5), completion: @escaping @Sendable (Bool) -> Void) {
    let once = Once(completion)
    let timer = Task {
      try? await Task.sleep(for: timeLimit)
      once.call(false)
    }
    startThread(name: "gst-stop") { [self] in
      drawing.draw(element, .end)
      gst_element_set_state(element, GST_STATE_NULL)
      delivery.close()
      detach()
      // It holds two file descriptors until it is gone, and whoever knows how the pipeline ended may keep that for days.
      gst_element_set_bus(element, nil)
      // A handler that is running now was called by the bus thread: wait until that is past it.
      SerialThread.bus.post {
        once.call(true)
        timer.cancel()
      }
    }
  }

  /// Runs `handler` on a streaming thread when a source has nothing more, which elements behind it may keep from the
  /// sinks. Those inside of other elements, such as uridecodebin, are not asked. Call it before `start`.
  public func onSourceEnd(_ handler: @escaping @Sendable () -> Void) {
    forEachSource { source in
      guard let pad = gst_element_get_static_pad(source, "src") else { return }
      addProbe(
        to: SharedPad(adopting: pad), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        PadProbe { info in
          let event = info.pointee.data?.assumingMemoryBound(to: GstEvent.self)
          if let event, event.pointee.type == GST_EVENT_EOS { handler() }
          return GST_PAD_PROBE_OK
        })
    }
  }

  /// How long what it plays is; nil where nobody knows, as of what is live.
  public var duration: Duration? {
    var nanoseconds: gint64 = -1
    guard gst_element_query_duration(element, GST_FORMAT_TIME, &nanoseconds) != 0, nanoseconds >= 0 else { return nil }
    return .nanoseconds(nanoseconds)
  }

  private func endSources() {
    forEachSource { source in
      if shim_is_app_src(source) != 0 {
        gst_app_src_end_of_stream(source.cast())
      } else {
        gst_element_send_event(source, gst_event_new_eos())
      }
    }
  }

  /// How many elements the pipeline ends in.
  public var sinkCount: Int {
    var count = 0
    Self.forEach(of: gst_bin_iterate_sinks(element.cast())) { _ in count += 1 }
    return count
  }

  private func forEachSource(_ body: (UnsafeMutablePointer<GstElement>) -> Void) {
    Self.forEach(of: gst_bin_iterate_sources(element.cast()), body)
  }

  private static func forEach(
    of iterator: UnsafeMutablePointer<GstIterator>?, _ body: (UnsafeMutablePointer<GstElement>) -> Void
  ) {
    guard let iterator else { return }
    defer { gst_iterator_free(iterator) }
    var item = GValue()
    while gst_iterator_next(iterator, &item) == GST_ITERATOR_OK {
      if let object = g_value_get_object(&item) { body(object.assumingMemoryBound(to: GstElement.self)) }
      g_value_unset(&item)
    }
  }
}

/// A completion that is called by whoever comes first.
private final class Once<Value: Sendable>: Sendable {
  private let completion: Locked<(@Sendable (Value) -> Void)?>
  init(_ completion: @escaping @Sendable (Value) -> Void) { self.completion = Locked(completion) }

  func call(_ result: Value) {
    let completion = completion.withLock { completion in
      defer { completion = nil }
      return completion
    }
    completion?(result)
  }
}
