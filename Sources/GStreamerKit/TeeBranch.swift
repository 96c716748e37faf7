import CGStreamer
import CShims
import MediaCore
import Synchronization

/// Says of what a tee has for a branch whether the branch gets it; on the streaming thread.
/// - Parameter queued: how long what waits for the branch lasts.
public typealias BranchInlet = @Sendable (_ isDelta: Bool, _ queued: Duration) -> Bool

/// A branch that hangs on a tee of a running pipeline from its `start` until its `remove`.
///
/// What goes wrong in it stays in it: after an error it gets nothing more, and the rest of the pipeline goes on.
///
/// `@unchecked Sendable`: holds counted references to objects whose calls lock by themselves; the rest is `Locked`.
public final class TeeBranch: @unchecked Sendable {
  private let pipeline: Pipeline
  private let bin: SharedElement
  private let tee: SharedElement
  /// Where the tee is fed: whoever holds up that stream has the tee to itself.
  private let stream: SharedPad
  private let input: SharedPad
  private let outlet = Locked<SharedPad?>(nil)
  /// What is told where it does not take what the tee has.
  private let misfit: PipelineError
  private let detachments: Detachments

  fileprivate init(
    pipeline: Pipeline, bin: SharedElement, tee: SharedElement, stream: SharedPad, input: SharedPad,
    misfit: PipelineError, _ detachments: Detachments
  ) {
    self.pipeline = pipeline
    self.bin = bin
    self.tee = tee
    self.stream = stream
    self.input = input
    self.misfit = misfit
    self.detachments = detachments
  }

  /// The element of that name within the branch; nil for one that is elsewhere.
  public func element(named name: String) -> Element? {
    gst_bin_get_by_name(bin.pointer.cast(), name).map {
      Element(shared: SharedElement(adopting: $0), name: name)
    }
  }

  /// As `Pipeline.appSink`, of a sink of the branch.
  /// - Parameter describe: what is said of the format that arrives, for each that does; on the streaming thread.
  @discardableResult
  public func appSink(
    named name: String, describe: @escaping @Sendable (Caps) -> Caps = { $0 },
    onBuffer: @escaping @Sendable (MediaBuffer) -> Void
  ) throws(PipelineError) -> AppSink {
    guard let element = element(named: name) else {
      throw PipelineError(.noSuchElement, "the branch has no element named \"\(name)\"", element: name)
    }
    return try AppSink(element, until: detachments, describe: describe, onBuffer: onBuffer)
  }

  /// Has the branch fail alone: its errors are told here, on the thread that all pipelines share, until `remove` returns,
  /// and none is one of the pipeline. Call it before `start`, once.
  public func onFailure(_ handler: @escaping @Sendable (PipelineError) -> Void) {
    pipeline.branchErrors.add(bin, handler)
  }

  /// Begins with what `first` gives, and goes on with what the tee gets from there on. The stream waits meanwhile, and
  /// so does the caller for the stream: nobody calls this who may be waited for by a consumer of media. A branch that
  /// does not take what the tee has fails.
  /// - Parameter first: asked while nothing goes into the tee.
  public func start(with first: () -> [MediaBuffer]) {
    pipeline.whileStateStays {
      gst_bin_add(pipeline.element.cast(), bin.pointer)
      gst_element_set_state(bin.pointer, pipeline.element.pointee.target_state)
    }
    shim_pad_lock_stream(stream.pointer)
    defer { shim_pad_unlock_stream(stream.pointer) }
    guard let pad = link() else { return fail(misfit) }
    for media in first() { gst_pad_push(pad.pointer, gst_buffer_ref(media.buffer)) }
    outlet.withLock { $0 = pad }
  }

  /// - Returns: nil where they have no format in common; a tee that may have nothing linked would say nothing of that.
  private func link() -> SharedPad? {
    guard let pad = gst_element_request_pad_simple(tee.pointer, "src_%u").map(SharedPad.init(adopting:)) else {
      return nil
    }
    guard gst_pad_link(pad.pointer, input.pointer) == GST_PAD_LINK_OK else {
      gst_element_release_request_pad(tee.pointer, pad.pointer)
      return nil
    }
    return pad
  }

  /// As an element of the branch would have.
  private func fail(_ error: PipelineError) {
    guard let handler = pipeline.branchErrors.handler(for: bin.pointer.cast()) else {
      return pipeline.delivery.posted(.error(error), by: pipeline.element)
    }
    SerialThread.bus.post { handler(error) }
  }

  /// Takes the branch off and ends it; nothing comes out of it once this has returned. Waits for the stream as `start`.
  public func remove() {
    let pad = outlet.withLock { outlet in
      defer { outlet = nil }
      return outlet
    }
    if let pad { unlink(pad) }
    pipeline.whileStateStays { pipeline.remove(bin) }
    pipeline.branchErrors.remove(bin)
    detachments.run()
  }

  private func unlink(_ pad: SharedPad) {
    shim_pad_lock_stream(stream.pointer)
    defer { shim_pad_unlock_stream(stream.pointer) }
    gst_pad_unlink(pad.pointer, input.pointer)
    gst_element_release_request_pad(tee.pointer, pad.pointer)
  }
}

extension Pipeline {
  /// A pipeline that is on its way to another state takes what is in it along, one step after the other, also what has
  /// just been added, or been ended to be taken out.
  fileprivate func whileStateStays(_ body: () -> Void) {
    shim_lock_state(element)
    defer { shim_unlock_state(element) }
    body()
  }

  /// Makes a branch for a tee; it gets nothing before its `start`.
  ///
  /// - Parameters:
  ///   - description: a `gst-launch` description whose first element is left unlinked.
  ///   - locate: the file and line of a byte offset in `description`, for errors.
  ///   - inlet: decides what the branch gets, which has a queue and a thread of its own then: so it holds up nobody who
  ///     feeds the tee. Nil lets all in, on the thread of the stream; so does a branch that only decodes Opus, which takes
  ///     less time than to wake a thread for it.
  public func makeBranch(
    description: String, behindTee teeName: String, locate: ((Int) -> SourceLocation?)? = nil,
    inlet: BranchInlet? = nil
  ) throws(PipelineError) -> TeeBranch {
    let tee = try element(named: teeName).shared
    let stream = try staticPad("sink", of: tee, named: teeName)
    let diagnosis = ParseDiagnosis(description: description, locate: locate)
    let bin = try Self.parseBin(description, diagnosis: diagnosis)
    guard let open = gst_bin_find_unlinked_pad(bin.pointer.cast(), GST_PAD_SINK) else {
      throw PipelineError(.link, "the branch behind \"\(teeName)\" has no open input", element: teeName)
    }
    defer { gst_object_unref(open) }
    let detachments = Detachments()
    let inlet = Self.onlyDecodesOpus(bin) ? nil : inlet
    let queue = inlet.flatMap { _ in BranchQueue(in: bin, before: open, until: detachments) }
    guard let input = gst_ghost_pad_new("sink", queue?.input.pointer ?? open) else {
      throw PipelineError(.link, "the branch cannot be linked to \"\(teeName)\"", element: teeName)
    }
    BranchGuard.install(on: input, queue, inlet)
    gst_object_ref(input)
    gst_element_add_pad(bin.pointer, input)
    return TeeBranch(
      pipeline: self, bin: bin, tee: tee, stream: stream, input: SharedPad(adopting: input),
      misfit: diagnosis.unlinked(Self.factory(of: open), behind: teeName), detachments)
  }

  /// Of the element that has the pad.
  private static func factory(of pad: UnsafeMutablePointer<GstPad>) -> String {
    let owner = gst_pad_get_parent_element(pad).map(SharedElement.init(adopting:))
    return owner.map { Element(shared: $0, name: "").factory } ?? ""
  }

  private static func onlyDecodesOpus(_ bin: SharedElement) -> Bool {
    let elements: UnsafeMutablePointer<GstBin> = bin.pointer.cast()
    var (factories, entry) = (Set<String>(), elements.pointee.children)
    while let child = entry {
      if let element = child.pointee.data?.assumingMemoryBound(to: GstElement.self) {
        factories.insert(shim_factory_name(element).map { String(cString: $0) } ?? "")
      }
      entry = child.pointee.next
    }
    return factories.contains("opusdec") && factories.isSubset(of: ["opusdec", "capsfilter", "appsink"])
  }

  /// Shows what goes into a tee: to `onBuffer` each buffer, as it is and not to be handed on elsewhere than to a branch
  /// of the tee, and to `onChange` that the format changes or anything else that holds for all that follows. Both run on
  /// the streaming thread. Call it before `start`.
  public func watch(
    tee name: String, onBuffer: @escaping @Sendable (MediaBuffer) -> Void, onChange: @escaping @Sendable () -> Void
  ) throws(PipelineError) {
    let pad = try staticPad("sink", of: try element(named: name).shared, named: name)
    let format = MediaFormat(Caps(adopting: gst_caps_new_any()))
    addProbe(
      to: pad, .buffers,
      PadProbe { info in
        info.pointee.forEachBuffer { buffer in
          onBuffer(MediaBuffer(retaining: buffer, format: format, shift: 0))
        }
        return GST_PAD_PROBE_OK
      })
    addProbe(
      to: pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      PadProbe { info in
        let event = info.pointee.data?.assumingMemoryBound(to: GstEvent.self)
        if let event, shim_is_sticky(event) != 0 { onChange() }
        return GST_PAD_PROBE_OK
      })
  }
}

/// A queue that takes everything: what goes in is for an inlet to decide. It keeps the time of what waits by itself, since
/// the queue's own level counts from zero until something has come out.
private final class BranchQueue: Sendable {
  let input: SharedPad
  private let waiting = Atomic(0)
  /// Nanoseconds, of the first buffer that went in when nothing waited.
  private let begin = Atomic(Int64.min)
  /// Of the newest buffer that came out.
  private let end = Atomic(Int64.min)

  /// Puts it before a pad; nil where there are no queues.
  init?(in bin: SharedElement, before pad: UnsafeMutablePointer<GstPad>, until detachments: Detachments) {
    guard let queue = gst_element_factory_make("queue", nil) else { return nil }
    for limit in ["max-size-buffers", "max-size-bytes", "max-size-time"] {
      gst_util_set_object_arg(queue.cast(), limit, "0")
    }
    gst_bin_add(bin.pointer.cast(), queue)
    guard let output = gst_element_get_static_pad(queue, "src").map(SharedPad.init(adopting:)),
      gst_pad_link(output.pointer, pad) == GST_PAD_LINK_OK,
      let input = gst_element_get_static_pad(queue, "sink").map(SharedPad.init(adopting:))
    else { return nil }
    self.input = input
    let probe = PadProbe { info in
      info.pointee.forEachBuffer { self.leave($0) }
      return GST_PAD_PROBE_OK
    }
    output.addProbe(.buffers, probe, until: detachments)
  }

  /// How long what waits lasts when a buffer of that time comes; without times nothing is known of that.
  func level(before time: Int64) -> Duration {
    guard waiting.load(ordering: .relaxed) > 0, time != .max else { return .zero }
    let oldest = max(begin.load(ordering: .relaxed), end.load(ordering: .relaxed))
    return .nanoseconds(max(0, time - oldest))
  }

  func enter(_ count: Int, at time: Int64) {
    let before = waiting.wrappingAdd(count, ordering: .relaxed).oldValue
    if before == 0 { begin.store(time, ordering: .relaxed) }
  }

  private func leave(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    shim_handoff_acquire(buffer)
    end.store(Int64(clamping: buffer.pointee.pts), ordering: .relaxed)
    // What drops it may be what lets its memory go.
    shim_handoff_release(buffer)
    waiting.wrappingSubtract(1, ordering: .relaxed)
  }
}

/// Stands where a branch begins: lets in what the branch is to get, and keeps its errors from those who feed it.
private final class BranchGuard: Callback {
  private let hasFailed = Atomic(false)
  private let queue: BranchQueue?
  private let inlet: BranchInlet?

  private init(_ queue: BranchQueue?, _ inlet: BranchInlet?) { (self.queue, self.inlet) = (queue, inlet) }

  static func install(on pad: UnsafeMutablePointer<GstPad>, _ queue: BranchQueue?, _ inlet: BranchInlet?) {
    let guardian = BranchGuard(queue, inlet)
    gst_pad_set_chain_function_full(
      pad,
      { pad, parent, buffer in
        guard let pad, let buffer, let data = pad.pointee.chaindata else { return GST_FLOW_ERROR }
        return BranchGuard.from(data).pass(buffer, 1, parent) { gst_proxy_pad_chain_default(pad, parent, buffer) }
          ?? drop { gst_buffer_unref(buffer) }
      }, guardian.passToC(), Callback.destroy)
    gst_pad_set_chain_list_function_full(
      pad,
      { pad, parent, list in
        guard let pad, let first = gst_buffer_list_get(list, 0), let data = pad.pointee.chainlistdata else {
          return GST_FLOW_ERROR
        }
        let count = Int(gst_buffer_list_length(list))
        return BranchGuard.from(data).pass(first, count, parent) { gst_proxy_pad_chain_list_default(pad, parent, list) }
          ?? drop { gst_buffer_list_unref(list) }
      }, guardian.passToC(), Callback.destroy)
  }

  /// - Parameter first: of so many buffers that are to be passed on.
  /// - Returns: nil when they are to be dropped.
  private func pass(
    _ first: UnsafeMutablePointer<GstBuffer>, _ count: Int, _ parent: UnsafeMutablePointer<GstObject>?,
    _ push: () -> GstFlowReturn
  ) -> GstFlowReturn? {
    guard !hasFailed.load(ordering: .relaxed), admits(first, count) else { return nil }
    let result = push()
    if result.rawValue < GST_FLOW_OK.rawValue, result != GST_FLOW_FLUSHING { fail(result, parent) }
    return GST_FLOW_OK
  }

  private func admits(_ first: UnsafeMutablePointer<GstBuffer>, _ count: Int) -> Bool {
    guard let inlet, let queue else { return true }
    shim_handoff_acquire(first)
    let isDelta = first.pointee.mini_object.flags & GST_BUFFER_FLAG_DELTA_UNIT.rawValue != 0
    let time = Int64(clamping: first.pointee.pts)
    guard inlet(isDelta, queue.level(before: time)) else { return false }
    queue.enter(count, at: time)
    return true
  }

  /// Elements that say that there was an error have said which; of all others only this is known.
  private func fail(_ result: GstFlowReturn, _ parent: UnsafeMutablePointer<GstObject>?) {
    hasFailed.store(true, ordering: .relaxed)
    guard result != GST_FLOW_ERROR, result != GST_FLOW_EOS, let parent else { return }
    postRefusal(result, by: parent.cast())
  }
}

private func drop(_ release: () -> Void) -> GstFlowReturn {
  release()
  return GST_FLOW_OK
}
