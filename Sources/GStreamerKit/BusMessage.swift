import CGStreamer

/// What a running pipeline reports.
public enum BusMessage: Sendable {
  /// An element gave up; the pipeline does nothing useful any more and is to be stopped.
  case error(PipelineError)
  /// Something went wrong that the element lives with.
  case warning(PipelineError)
  /// All sinks have handled the end of the stream: what was to be written is written.
  case endOfStream
  /// The latency changed; it has been redistributed already.
  case latencyChanged
  /// A message of an element's own kind, such as `level`; the fields are in GStreamer's text form.
  case element(source: String, name: String, fields: [String: String])
}

extension BusMessage {
  /// The messages that are passed on. Called on the thread that posts, which may be a streaming thread.
  init?(_ message: UnsafeMutablePointer<GstMessage>) {
    switch message.pointee.type {
    case GST_MESSAGE_ERROR: self = .error(PipelineError(message, parse: gst_message_parse_error))
    case GST_MESSAGE_WARNING: self = .warning(PipelineError(message, parse: gst_message_parse_warning))
    case GST_MESSAGE_EOS: self = .endOfStream
    case GST_MESSAGE_LATENCY: self = .latencyChanged
    case GST_MESSAGE_ELEMENT:
      guard let structure = gst_message_get_structure(message), let kind = gst_structure_get_name(structure) else {
        return nil
      }
      self = .element(
        source: name(of: message.pointee.src) ?? "", name: String(cString: kind), fields: textFields(of: structure))
    default: return nil
    }
  }
}

private typealias ParseMessage = (
  UnsafeMutablePointer<GstMessage>?, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?,
  UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
) -> Void

extension PipelineError {
  fileprivate init(_ message: UnsafeMutablePointer<GstMessage>, parse: ParseMessage) {
    var error: UnsafeMutablePointer<GError>?
    var debug: UnsafeMutablePointer<gchar>?
    parse(message, &error, &debug)
    let kind = error.map { Kind(domain: $0.pointee.domain, code: $0.pointee.code) } ?? .framework
    self.init(
      kind, takeMessage(&error) ?? "unknown error", element: GStreamerKit.name(of: message.pointee.src),
      debug: take(debug))
  }
}

/// The fields of a structure, each in GStreamer's text form.
func textFields(of structure: UnsafePointer<GstStructure>) -> [String: String] {
  var fields: [String: String] = [:]
  for index in 0..<max(gst_structure_n_fields(structure), 0) {
    guard let name = gst_structure_nth_field_name(structure, UInt32(index)),
      let value = gst_structure_get_value(structure, name)
    else { continue }
    fields[String(cString: name)] = take(gst_value_serialize(value))
  }
  return fields
}
