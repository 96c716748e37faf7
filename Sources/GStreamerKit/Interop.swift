import CGStreamer

extension UnsafeMutablePointer {
  /// GObject's up- and downcasts: instances of a class begin with an instance of its parent class.
  func cast<Other>(to type: Other.Type = Other.self) -> UnsafeMutablePointer<Other> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: type)
  }
}

/// `GST_CLOCK_TIME_NONE`, a macro that Swift does not import.
let noTime = GstClockTime.max

/// The Swift copy of a string that GLib gave us to free.
func take(_ string: UnsafeMutablePointer<CChar>?) -> String? {
  guard let string else { return nil }
  defer { g_free(string) }
  return String(cString: string)
}

/// The message of an error that GLib gave us to free.
func takeMessage(_ error: inout UnsafeMutablePointer<GError>?) -> String? {
  defer { g_clear_error(&error) }
  return error.flatMap { $0.pointee.message }.map { String(cString: $0) }
}

/// The name of an element, pad or other object.
func name(of object: UnsafeMutableRawPointer?) -> String? {
  guard let object else { return nil }
  return take(gst_object_get_name(object.assumingMemoryBound(to: GstObject.self)))
}
