import CGStreamer
import CShims
import Dispatch
import MediaCore

/// Between a bus and its listener: reads messages on whatever thread posts them and hands them on by one queue.
final class MessageGate: Sendable {
  private struct State {
    var handler: (@Sendable (PipelineMessage) -> Void)?
    var newestError: (element: String, message: String)?
  }

  /// One queue for all pipelines: messages are rare, and a hundred pipelines shall not be a hundred threads.
  private static let queue = DispatchQueue(label: "mediabridge.bus")
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    return key
  }()

  private let state: Locked<State>

  init(_ handler: @escaping @Sendable (PipelineMessage) -> Void) {
    state = Locked(State(handler: handler))
  }

  var newestError: (element: String, message: String)? { state.withLock { $0.newestError } }

  /// After it returned the handler is not called again; called from the handler itself it cannot wait for itself.
  func close() {
    let wasOpen = state.withLock { state in
      defer { state.handler = nil }
      return state.handler != nil
    }
    if wasOpen, DispatchQueue.getSpecific(key: Self.key) == nil { Self.queue.sync {} }
  }

  func handle(_ message: UnsafeMutablePointer<GstMessage>) {
    guard let message = read(message) else { return }
    if case .failed(let element, _, let text, _) = message {
      state.withLock { if $0.newestError == nil { $0.newestError = (element, text) } }
    }
    Self.queue.async { [self] in state.withLock { $0.handler }?(message) }
  }

  private func read(_ message: UnsafeMutablePointer<GstMessage>) -> PipelineMessage? {
    let type = shim_message_type(message)
    if type == GST_MESSAGE_EOS { return .endOfStream }
    guard type == GST_MESSAGE_ERROR else { return nil }
    var failure: UnsafeMutablePointer<GError>?
    var debug: UnsafeMutablePointer<CChar>?
    gst_message_parse_error(message, &failure, &debug)
    let name = shim_message_source_name(message)
    defer {
      g_free(debug)
      g_free(name)
    }
    guard let failure else { return nil }
    let kind = Self.kind(domain: failure.pointee.domain, code: failure.pointee.code)
    return .failed(
      element: name.map { String(cString: $0) } ?? "", kind: kind, message: GStreamer.message(of: failure),
      debug: debug.map { String(cString: $0) } ?? "")
  }

  private static func kind(domain: GQuark, code: gint) -> PipelineMessage.ErrorKind {
    if domain == gst_resource_error_quark() {
      switch UInt32(bitPattern: code) {
      case GST_RESOURCE_ERROR_NO_SPACE_LEFT.rawValue: return .noSpaceLeft
      case GST_RESOURCE_ERROR_OPEN_WRITE.rawValue, GST_RESOURCE_ERROR_OPEN_READ.rawValue,
        GST_RESOURCE_ERROR_OPEN_READ_WRITE.rawValue, GST_RESOURCE_ERROR_NOT_FOUND.rawValue:
        return .cannotOpen
      case GST_RESOURCE_ERROR_WRITE.rawValue: return .cannotWrite
      default: return .other
      }
    }
    guard domain == gst_stream_error_quark() else {
      return domain == gst_core_error_quark() && code == gint(GST_CORE_ERROR_MISSING_PLUGIN.rawValue)
        ? .missingPlugin : .other
    }
    return code == gint(GST_STREAM_ERROR_DECODE.rawValue) ? .decode : .other
  }
}
