import CGStreamer
import CShims
import MediaCore

/// A GStreamer pipeline made from text.
///
/// It runs on the monotonic system clock with base time zero, so that a buffer's timestamp and a `MediaTime` are the
/// same number in every pipeline. Everything that GStreamer reports arrives at `onMessage`, on one thread that all
/// pipelines share; a handler that blocks there holds up the others.
///
/// `@unchecked Sendable`: the element is only handed to GStreamer calls that lock by themselves; all other state is
/// in `Locked` values.
public final class Pipeline: @unchecked Sendable {
  /// For messages and GStreamer's own log.
  public let name: String
  let element: UnsafeMutablePointer<GstElement>
  let delivery = BusDelivery()
  let detachments = Detachments()
  let branchErrors = BranchErrors()
  let drawing: PipelineDrawing

  /// - Parameters:
  ///   - description: a `gst-launch` description.
  ///   - name: a name for messages and for GStreamer's own log.
  ///   - locate: the file and line of a byte offset in `description`, for errors.
  public init(
    description: String, name: String, locate: ((Int) -> SourceLocation?)? = nil
  ) throws(PipelineError) {
    try GStreamer.initialize()
    self.name = name
    drawing = PipelineDrawing(name: name, description: description)
    element = try Self.parse(description, diagnosis: ParseDiagnosis(description: description, locate: locate))
    gst_object_set_name(element.cast(), name)
    useMonotonicClock()
    watchBus()
  }

  deinit {
    // The last reference may go away on a streaming thread, which must not wait for itself.
    let element = SharedElement(adopting: element)
    let detachments = detachments
    delivery.close()
    guard element.pointer.pointee.current_state != GST_STATE_NULL else { return Self.release(element, detachments) }
    startThread(name: "gst-release") {
      gst_element_set_state(element.pointer, GST_STATE_NULL)
      Self.release(element, detachments)
    }
  }

  private static func release(_ element: SharedElement, _ detachments: Detachments) {
    detachments.run()
    guard let bus = gst_element_get_bus(element.pointer) else { return }
    gst_bus_set_sync_handler(bus, nil, nil, nil)
    gst_object_unref(bus)
  }

  /// Runs `handler` for each message, one at a time, on the thread that all pipelines share. Set it before `start`.
  public func onMessage(_ handler: @escaping @Sendable (BusMessage) -> Void) { delivery.set(handler: handler) }

  func detach() { detachments.run() }
}

/// What undoes what was attached to elements, so that closures die with the run of what they were attached to.
final class Detachments: Sendable {
  private let jobs = Locked<[Job]>([])

  func add(_ job: @escaping Job) { jobs.withLock { $0.append(job) } }

  func run() {
    let jobs = jobs.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    for job in jobs { job() }
  }
}

extension Pipeline {
  private static func parse(
    _ description: String, diagnosis: ParseDiagnosis
  ) throws(PipelineError) -> UnsafeMutablePointer<GstElement> {
    inPipeline(
      try parse(diagnosis) { context, error in
        gst_parse_launch_full(description, context, GST_PARSE_FLAG_FATAL_ERRORS, &error)
      })
  }

  /// A bin of what `description` says, with a pad `src` for the output that it leaves unlinked. Inputs stay as they
  /// are, unless `hasInput`: a text overlay whose input for text is linked to anything waits for some.
  static func parseBin(
    _ description: String, diagnosis: ParseDiagnosis, hasInput: Bool = false
  ) throws(PipelineError) -> SharedElement {
    let bin = try parse(diagnosis) { context, error in
      gst_parse_bin_from_description_full(
        description, hasInput ? 1 : 0, context, GST_PARSE_FLAG_FATAL_ERRORS, &error)
    }
    gst_object_ref_sink(bin)
    if !hasInput, let output = gst_bin_find_unlinked_pad(bin.cast(), GST_PAD_SRC) {
      gst_element_add_pad(bin, gst_ghost_pad_new("src", output))
      gst_object_unref(output)
    }
    return SharedElement(adopting: bin)
  }

  private static func parse(
    _ diagnosis: ParseDiagnosis,
    with parser: (OpaquePointer?, inout UnsafeMutablePointer<GError>?) -> UnsafeMutablePointer<GstElement>?
  ) throws(PipelineError) -> UnsafeMutablePointer<GstElement> {
    let context = gst_parse_context_new()
    defer { gst_parse_context_free(context) }
    var error: UnsafeMutablePointer<GError>?
    let (parsed, refused) = LoadedCode.whileLoading { RefusedValues.during { parser(context, &error) } }
    // The parser also lists elements that are there but could not be made as the template wants them.
    let missing = takeStrings(gst_parse_context_get_missing_elements(context)).filter { !GStreamer.hasElement($0) }
    let domain = error?.pointee.domain ?? 0
    let code = error?.pointee.code ?? 0
    let message = takeMessage(&error)
    if message == nil, missing.isEmpty, refused.isEmpty, let parsed {
      IdleFlips.passOn(in: parsed)
      return parsed
    }
    if let parsed { gst_object_unref(gst_object_ref_sink(parsed)) }
    if !missing.isEmpty { throw diagnosis.missing(missing) }
    if message == nil, let first = refused.first { throw diagnosis.refused(first) }
    throw diagnosis.failure(domain: domain, code: code, message: message ?? "the description is empty")
  }

  /// A description of a single element parses to that element; everything else is a pipeline already.
  private static func inPipeline(_ parsed: UnsafeMutablePointer<GstElement>) -> UnsafeMutablePointer<GstElement> {
    gst_object_ref_sink(parsed)
    guard shim_is_pipeline(parsed) == 0, let pipeline = gst_pipeline_new(nil) else { return parsed }
    gst_object_ref_sink(pipeline)
    gst_bin_add(pipeline.cast(), parsed)
    gst_object_unref(parsed)
    return pipeline
  }

  private static func takeStrings(_ strings: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> [String] {
    guard let strings else { return [] }
    defer { g_strfreev(strings) }
    var result: [String] = []
    while let string = strings[result.count] { result.append(String(cString: string)) }
    return result
  }

  private func useMonotonicClock() {
    guard let clock = gst_system_clock_obtain() else { return }
    gst_pipeline_use_clock(element.cast(), clock)
    gst_object_unref(clock)
    gst_element_set_start_time(element, noTime)
    gst_element_set_base_time(element, 0)
  }

  private func watchBus() {
    guard let bus = gst_element_get_bus(element) else { return }
    let route = BusRoute(delivery: delivery, branchErrors: branchErrors, pipeline: element, drawing: drawing)
    gst_bus_set_sync_handler(
      bus,
      { _, message, data in
        guard let message, let data else { return GST_BUS_PASS }
        BusRoute.from(data).post(message)
        gst_message_unref(message)
        return GST_BUS_DROP
      }, route.passToC(), Callback.destroy)
    gst_object_unref(bus)
  }
}

/// What the bus's call-back knows. It holds no reference to the pipeline's element, which owns the bus.
private final class BusRoute: Callback {
  let delivery: BusDelivery
  let branchErrors: BranchErrors
  let pipeline: UnsafeMutablePointer<GstElement>
  let drawing: PipelineDrawing

  init(
    delivery: BusDelivery, branchErrors: BranchErrors, pipeline: UnsafeMutablePointer<GstElement>,
    drawing: PipelineDrawing
  ) {
    (self.delivery, self.branchErrors) = (delivery, branchErrors)
    self.pipeline = pipeline
    self.drawing = drawing
  }

  func post(_ message: UnsafeMutablePointer<GstMessage>) {
    guard let known = BusMessage(message) else { return }
    if case .error = known, PipelineDrawings.isOn { drawOnBusThread() }
    if case .error(let error) = known, let handler = branchErrors.handler(for: message.pointee.src) {
      return SerialThread.bus.post { handler(error) }
    }
    delivery.posted(known, by: pipeline)
  }

  /// The element that reports an error may hold a lock of its own.
  private func drawOnBusThread() {
    let bin = SharedElement(retaining: pipeline)
    let drawing = drawing
    SerialThread.bus.post { drawing.draw(bin.pointer, .error) }
  }
}
