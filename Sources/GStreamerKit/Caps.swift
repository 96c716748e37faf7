import CGStreamer

/// What kind of media a buffer holds: GStreamer's capabilities as a value.
///
/// `@unchecked Sendable`: the caps are never changed after `init`.
public final class Caps: @unchecked Sendable, CustomStringConvertible {
  let pointer: UnsafeMutablePointer<GstCaps>

  /// nil for a text that is not caps.
  public init?(_ description: String) {
    guard (try? GStreamer.initialize()) != nil, let caps = gst_caps_from_string(description) else { return nil }
    pointer = caps
  }

  init(borrowed caps: UnsafeMutablePointer<GstCaps>) {
    pointer = gst_caps_ref(caps)
  }

  deinit { gst_caps_unref(pointer) }

  public var description: String {
    guard let text = gst_caps_to_string(pointer) else { return "" }
    defer { g_free(text) }
    return String(cString: text)
  }

  /// Such as `video/x-vp8`; empty for caps that say nothing.
  public var mediaType: String { structure.map { String(cString: gst_structure_get_name($0)) } ?? "" }

  public func string(_ field: String) -> String? {
    structure.flatMap { gst_structure_get_string($0, field) }.map { String(cString: $0) }
  }

  public func int(_ field: String) -> Int? {
    var value: gint = 0
    guard let structure, gst_structure_get_int(structure, field, &value) != 0 else { return nil }
    return Int(value)
  }

  /// Whether media of these caps may be of the others, too.
  public func intersects(_ other: Caps) -> Bool { gst_caps_can_intersect(pointer, other.pointer) != 0 }

  private var structure: UnsafeMutablePointer<GstStructure>? {
    gst_caps_get_size(pointer) > 0 ? gst_caps_get_structure(pointer, 0) : nil
  }
}
