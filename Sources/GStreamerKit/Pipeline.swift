import CGStreamer
import CShims
import Dispatch
import MediaCore

/// What a running pipeline reports, on a queue that all pipelines share.
public enum PipelineMessage: Sendable {
  public enum ErrorKind: Sendable, Equatable {
    case noSpaceLeft
    case cannotOpen
    case cannotWrite
    case missingPlugin
    case decode
    case other
  }
  case failed(element: String, kind: ErrorKind, message: String, debug: String)
  case endOfStream
}

/// A GStreamer pipeline made from a gst-launch description. It runs on the monotonic clock with base time zero, so
/// that a buffer's timestamp is a `MediaTime`.
///
/// `@unchecked Sendable`: GStreamer's objects are thread-safe by themselves, and the pointer never changes.
public final class Pipeline: @unchecked Sendable {
  let element: UnsafeMutablePointer<GstElement>
  private let gate: MessageGate

  /// - Parameters:
  ///   - description: what `gst-launch-1.0` takes.
  ///   - onMessage: called for errors and the end of the stream, in order; never after `stop()` returned.
  public init(
    description: String, name: String, onMessage: @escaping @Sendable (PipelineMessage) -> Void = { _ in }
  ) throws(PipelineError) {
    try GStreamer.initialize()
    element = try Self.parse(description)
    gst_object_set_name(UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstObject.self), name)
    shim_use_monotonic_time(element)
    gate = MessageGate(onMessage)
    watchBus()
  }

  deinit {
    stop()
    gst_object_unref(element)
  }

  private static func parse(_ description: String) throws(PipelineError) -> UnsafeMutablePointer<GstElement> {
    let context = gst_parse_context_new()
    defer { gst_parse_context_free(context) }
    var failure: UnsafeMutablePointer<GError>?
    let parsed = gst_parse_launch_full(description, context, GST_PARSE_FLAG_FATAL_ERRORS, &failure)
    let text = failure.map(GStreamer.message(of:))
    let missing = missingElements(context)
    guard let parsed, text == nil, missing.isEmpty else {
      if let parsed { gst_object_unref(parsed) }
      throw missing.isEmpty ? .syntax(text ?? "empty pipeline") : .missingElements(missing)
    }
    return try asPipeline(gst_object_ref_sink(parsed).assumingMemoryBound(to: GstElement.self))
  }

  /// A text with a single element parses to that element; it gets a pipeline around it.
  private static func asPipeline(
    _ parsed: UnsafeMutablePointer<GstElement>
  ) throws(PipelineError) -> UnsafeMutablePointer<GstElement> {
    guard g_type_check_instance_is_a(
      UnsafeMutableRawPointer(parsed).assumingMemoryBound(to: GTypeInstance.self), gst_pipeline_get_type()) == 0
    else { return parsed }
    guard let pipeline = gst_pipeline_new(nil) else { throw .library("cannot make a pipeline") }
    gst_bin_add(shim_bin(pipeline), parsed)
    gst_object_unref(parsed)
    return gst_object_ref_sink(pipeline).assumingMemoryBound(to: GstElement.self)
  }

  private static func missingElements(_ context: OpaquePointer?) -> [String] {
    guard let list = gst_parse_context_get_missing_elements(context) else { return [] }
    defer { g_strfreev(list) }
    var names: [String] = []
    var index = 0
    while let name = list[index] {
      names.append(String(cString: name))
      index += 1
    }
    return names
  }

  /// Goes to PLAYING. Errors that come later reach `onMessage`.
  public func start() throws(PipelineError) {
    guard gst_element_set_state(element, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE else { return }
    let reason = gate.newestError
    stop()
    throw .cannotStart(element: reason?.element ?? "", message: reason?.message ?? "an element refuses to start")
  }

  /// Ends all streaming threads; no call-back of this pipeline comes after it returned. Not for streaming threads.
  public func stop() {
    gate.close()
    gst_element_set_state(element, GST_STATE_NULL)
    if let bus = gst_element_get_bus(element) {
      gst_bus_set_flushing(bus, 1)
      gst_bus_set_sync_handler(bus, nil, nil, nil)
      gst_object_unref(bus)
    }
  }

  /// Sends the end of the stream to every source; `endOfStream` follows when all sinks have finished.
  public func sendEndOfStream() { gst_element_send_event(element, gst_event_new_eos()) }

  func find(_ name: String) -> ElementReference? {
    gst_bin_get_by_name(shim_bin(element), name).map(ElementReference.init(owned:))
  }

  /// True when the text has an element of this name.
  public func hasElement(named name: String) -> Bool { find(name) != nil }

  /// Sets a property from its text form; false when there is no such element.
  @discardableResult
  public func set(_ property: String, of name: String, to value: String) -> Bool {
    guard let reference = find(name) else { return false }
    gst_util_set_object_arg(
      UnsafeMutableRawPointer(reference.pointer).assumingMemoryBound(to: GObject.self), property, value)
    return true
  }

  private func watchBus() {
    guard let bus = gst_element_get_bus(element) else { return }
    defer { gst_object_unref(bus) }
    gst_bus_set_sync_handler(bus, { _, message, raw in
      if let message { Unmanaged<MessageGate>.fromOpaque(raw!).takeUnretainedValue().handle(message) }
      return GST_BUS_DROP
    }, Unmanaged.passRetained(gate).toOpaque(), { raw in Unmanaged<MessageGate>.fromOpaque(raw!).release() })
  }
}

/// A counted reference to an element.
///
/// `@unchecked Sendable`: an element is thread-safe by GStreamer's contract.
final class ElementReference: @unchecked Sendable {
  let pointer: UnsafeMutablePointer<GstElement>

  init(owned pointer: UnsafeMutablePointer<GstElement>) { self.pointer = pointer }
  deinit { gst_object_unref(pointer) }
}
