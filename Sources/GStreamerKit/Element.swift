import CGStreamer
import CShims

/// A named element of a pipeline, for reading and setting its properties.
public struct Element: Sendable {
  let shared: SharedElement
  /// As in the pipeline's text.
  public let name: String

  /// The kind of element, for example "vp8dec".
  public var factory: String { shim_factory_name(shared.pointer).map { String(cString: $0) } ?? "" }

  /// Sets a property from its text form, as in a pipeline template: numbers, booleans, enumerations by nick, caps. What is
  /// text is set as it is.
  public func set(_ property: String, to value: String) throws(PipelineError) {
    guard let specification = shim_find_property(shared.pointer, property) else {
      throw PipelineError(.property, "no property \"\(property)\" in element \"\(name)\"", element: name)
    }
    guard specification.pointee.value_type == textType else {
      return gst_util_set_object_arg(shared.pointer.cast(), property, value)
    }
    // The text form of a text may be another one: `NULL` is none at all.
    var text = GValue()
    g_value_init(&text, textType)
    defer { g_value_unset(&text) }
    g_value_set_string(&text, value)
    g_object_set_property(shared.pointer.cast(), property, &text)
  }
  /// Sets a number.
  public func set(_ property: String, to value: Int) throws(PipelineError) { try set(property, to: String(value)) }
  /// Sets a number.
  public func set(_ property: String, to value: Double) throws(PipelineError) { try set(property, to: String(value)) }
  /// Sets a switch.
  public func set(_ property: String, to value: Bool) throws(PipelineError) {
    try set(property, to: value ? "true" : "false")
  }

  /// The property in text form; nil when the element has none of that name, or it is a text that is not there.
  public func string(_ property: String) -> String? {
    read(property) { value in
      // Serialising would put a text in quotes.
      guard value.pointee.g_type == textType else { return take(gst_value_serialize(value)) }
      return g_value_get_string(value).map { String(cString: $0) }
    }
  }
  /// The property as a whole number; nil when it is none.
  public func int(_ property: String) -> Int? {
    converted(property, to: GType(10 << 2)) { Int(g_value_get_int64($0)) }
  }
  /// The property as a number; nil when it is none.
  public func double(_ property: String) -> Double? {
    converted(property, to: GType(15 << 2)) { g_value_get_double($0) }
  }
  /// The property as a switch; nil when it is none.
  public func bool(_ property: String) -> Bool? {
    converted(property, to: GType(5 << 2)) { g_value_get_boolean($0) != 0 }
  }

  /// A property that holds caps, such as that of a capsfilter; nil when it is none, or empty.
  public func caps(_ property: String) -> Caps? {
    read(property) { value in
      // The serialised form is quoted for use inside of another one, which caps are not read from.
      guard g_type_check_value_holds(value, gst_caps_get_type()) != 0, let boxed = g_value_get_boxed(value) else {
        return nil
      }
      return Caps(retaining: boxed.assumingMemoryBound(to: GstCaps.self))
    }
  }

  /// Caps of a pad of this element, once they are known.
  public func caps(ofPad pad: String) -> Caps? {
    guard let pad = gst_element_get_static_pad(shared.pointer, pad) else { return nil }
    defer { gst_object_unref(pad) }
    return gst_pad_get_current_caps(pad).map(Caps.init(adopting:))
  }

  func read<Result>(_ property: String, _ body: (UnsafeMutablePointer<GValue>) -> Result?) -> Result? {
    var value = GValue()
    guard shim_get_property(shared.pointer, property, &value) != 0 else { return nil }
    defer { g_value_unset(&value) }
    return body(&value)
  }

  private func converted<Result>(
    _ property: String, to type: GType, _ body: (UnsafeMutablePointer<GValue>) -> Result
  ) -> Result? {
    read(property) { value in
      var result = GValue()
      g_value_init(&result, type)
      defer { g_value_unset(&result) }
      return g_value_transform(value, &result) != 0 ? body(&result) : nil
    }
  }
}

/// G_TYPE_STRING, whose macro Swift does not import.
private let textType = GType(16 << 2)

extension Pipeline {
  /// Whether some element, anywhere in the pipeline, has that name.
  public func hasElement(_ name: String) -> Bool { shared(named: name) != nil }

  /// The element of that name, anywhere in the pipeline.
  public func element(named name: String) throws(PipelineError) -> Element {
    guard let shared = shared(named: name) else {
      throw PipelineError(.noSuchElement, "the pipeline has no element named \"\(name)\"", element: name)
    }
    return Element(shared: shared, name: name)
  }

  func shared(named name: String) -> SharedElement? {
    gst_bin_get_by_name(element.cast(), name).map(SharedElement.init(adopting:))
  }
}

extension Pipeline {
  /// The kinds of all elements that are in the pipeline now, in its bins too: "vp8dec" once for each of them.
  public var factories: [String] {
    guard let iterator = gst_bin_iterate_recurse(element.cast()) else { return [] }
    defer { gst_iterator_free(iterator) }
    var (names, item) = ([String](), GValue())
    while gst_iterator_next(iterator, &item) == GST_ITERATOR_OK {
      if let child = g_value_get_object(&item) {
        names.append(
          shim_factory_name(child.assumingMemoryBound(to: GstElement.self)).map { String(cString: $0) } ?? "")
      }
      g_value_unset(&item)
    }
    return names
  }
}
