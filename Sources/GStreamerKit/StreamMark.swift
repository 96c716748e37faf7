import CGStreamer

/// A mark in the stream: once it comes out of a pipeline, so has all that went in before it, or it comes no more.
enum StreamMark {
  private static let name = "mediabridge-mark"

  static var event: UnsafeMutablePointer<GstEvent>? {
    gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty(name))
  }

  static func isMark(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    event.pointee.type == GST_EVENT_CUSTOM_DOWNSTREAM && gst_event_has_name(event, name) != 0
  }
}

extension AppSource {
  /// Puts a mark behind what has been pushed, which the `onMark` of a sink is told of.
  public func pushMark() { gst_element_send_event(shared.pointer, StreamMark.event) }
}
