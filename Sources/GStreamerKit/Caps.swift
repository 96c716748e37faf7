import CGStreamer

/// A description of media formats: one or several structures, each a media type with fields.
///
/// `@unchecked Sendable`: the caps behind it are never written to after they were made; GStreamer copies on write.
public final class Caps: @unchecked Sendable, Hashable, CustomStringConvertible {
  let pointer: UnsafeMutablePointer<GstCaps>

  init(retaining pointer: UnsafeMutablePointer<GstCaps>) { self.pointer = gst_caps_ref(pointer) }
  init(adopting pointer: UnsafeMutablePointer<GstCaps>) { self.pointer = pointer }
  deinit { gst_caps_unref(pointer) }

  /// Parses the text form, for example "video/x-vp8, width=640; video/x-vp9"; nil when it is none.
  public convenience init?(_ text: String) {
    guard (try? GStreamer.initialize()) != nil, let caps = gst_caps_from_string(text) else { return nil }
    self.init(adopting: caps)
  }

  /// The media type of the first structure, "" for empty and for ANY caps.
  public var mediaType: String { mediaTypes.first ?? "" }

  /// The media type of each structure.
  public var mediaTypes: [String] {
    (0..<gst_caps_get_size(pointer)).compactMap { index in
      gst_caps_get_structure(pointer, index).flatMap { gst_structure_get_name($0) }.map { String(cString: $0) }
    }
  }

  /// Whether every field has one value, as the caps of data have.
  public var isFixed: Bool { gst_caps_is_fixed(pointer) != 0 }
  /// Whether every format fits.
  public var isAny: Bool { gst_caps_is_any(pointer) != 0 }

  /// A field of the first structure.
  public func string(_ field: String) -> String? {
    first.flatMap { gst_structure_get_string($0, field) }.map { String(cString: $0) }
  }

  /// An integer field of the first structure; nil when it is none, or has several values.
  public func int(_ field: String) -> Int? {
    var value: gint = 0
    guard let first, gst_structure_get_int(first, field, &value) != 0 else { return nil }
    return Int(value)
  }

  /// A field such as `framerate` of the first structure; nil when it is no fraction, or has several values.
  public func fraction(_ field: String) -> (numerator: Int, denominator: Int)? {
    var numerator: gint = 0
    var denominator: gint = 0
    guard let first, gst_structure_get_fraction(first, field, &numerator, &denominator) != 0 else { return nil }
    return (Int(numerator), Int(denominator))
  }

  /// The bytes of a field that holds a buffer, such as `codec_data`.
  public func bytes(_ field: String) -> [UInt8]? {
    guard let first, let value = gst_structure_get_value(first, field),
      g_type_check_value_holds(value, gst_buffer_get_type()) != 0,
      let buffer = g_value_get_boxed(value)?.assumingMemoryBound(to: GstBuffer.self)
    else { return nil }
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return nil }
    defer { gst_buffer_unmap(buffer, &map) }
    return Array(UnsafeBufferPointer(start: map.data, count: Int(map.size)))
  }

  /// The same with another value of an integer field.
  public func with(_ field: String, _ number: Int) -> Caps {
    // 6 is G_TYPE_INT, whose macro Swift does not import.
    with(field, GType(6 << 2)) { g_value_set_int(&$0, gint(clamping: number)) }
  }

  /// The same with any even number up to that in an integer field.
  public func with(_ field: String, upTo number: Int) -> Caps {
    with(field, gst_int_range_get_type()) { gst_value_set_int_range_step(&$0, 2, gint(clamping: max(4, number)), 2) }
  }

  private func with(_ field: String, _ type: GType, _ set: (inout GValue) -> Void) -> Caps {
    var value = GValue()
    g_value_init(&value, type)
    defer { g_value_unset(&value) }
    set(&value)
    // A copy always has structures of its own to write to.
    let copy: UnsafeMutablePointer<GstCaps> = gst_caps_copy(pointer)
    gst_caps_set_value(copy, field, &value)
    return Caps(adopting: copy)
  }

  /// The same with the fields of other caps' first structure; where both have a field, with the other value.
  func merging(_ other: Caps?) -> Caps {
    guard let fields = other?.first else { return self }
    let copy: UnsafeMutablePointer<GstCaps> = gst_caps_copy(pointer)
    for index in 0..<gst_structure_n_fields(fields) {
      let name = gst_structure_nth_field_name(fields, guint(index))
      gst_caps_set_value(copy, name, gst_structure_get_value(fields, name))
    }
    return Caps(adopting: copy)
  }

  /// The fields of the first structure in text form.
  public var fields: [String: String] { first.map { textFields(of: $0) } ?? [:] }

  private var first: UnsafeMutablePointer<GstStructure>? {
    gst_caps_get_size(pointer) > 0 ? gst_caps_get_structure(pointer, 0) : nil
  }

  /// Whether both describe the same formats, in the same order and words.
  public static func == (lhs: Caps, rhs: Caps) -> Bool {
    lhs.pointer == rhs.pointer || gst_caps_is_equal(lhs.pointer, rhs.pointer) != 0
  }
  /// By the first media type alone.
  public func hash(into hasher: inout Hasher) { hasher.combine(mediaType) }
  /// The text form.
  public var description: String { take(gst_caps_to_string(pointer)) ?? "" }
}
