import CGStreamer

extension PipelineError.Kind {
  /// The kind that a GError of a bus message stands for.
  init(domain: GQuark, code: Int32) {
    let code = UInt32(bitPattern: code)
    if domain == gst_resource_error_quark() {
      self = Self.resource(GstResourceError(rawValue: code))
    } else if domain == gst_stream_error_quark() {
      self = Self.stream(GstStreamError(rawValue: code))
    } else if domain == gst_core_error_quark() {
      self = Self.core(GstCoreError(rawValue: code))
    } else {
      self = .framework
    }
  }

  private static func resource(_ error: GstResourceError) -> Self {
    switch error {
    case GST_RESOURCE_ERROR_NO_SPACE_LEFT: .diskFull
    case GST_RESOURCE_ERROR_WRITE, GST_RESOURCE_ERROR_OPEN_WRITE, GST_RESOURCE_ERROR_OPEN_READ_WRITE: .cannotWrite
    case GST_RESOURCE_ERROR_NOT_FOUND: .notFound
    case GST_RESOURCE_ERROR_READ, GST_RESOURCE_ERROR_OPEN_READ: .cannotRead
    case GST_RESOURCE_ERROR_BUSY: .busy
    case GST_RESOURCE_ERROR_NOT_AUTHORIZED: .notAuthorized
    default: .resource
    }
  }

  private static func stream(_ error: GstStreamError) -> Self {
    switch error {
    case GST_STREAM_ERROR_CODEC_NOT_FOUND: .missingPlugin
    case GST_STREAM_ERROR_DECODE: .decode
    case GST_STREAM_ERROR_ENCODE: .encode
    case GST_STREAM_ERROR_FORMAT, GST_STREAM_ERROR_WRONG_TYPE, GST_STREAM_ERROR_TYPE_NOT_FOUND: .format
    default: .stream
    }
  }

  private static func core(_ error: GstCoreError) -> Self {
    switch error {
    case GST_CORE_ERROR_MISSING_PLUGIN: .missingPlugin
    case GST_CORE_ERROR_NEGOTIATION, GST_CORE_ERROR_CAPS: .format
    case GST_CORE_ERROR_STATE_CHANGE: .stateChange
    default: .framework
    }
  }
}
