import CGStreamer

/// What a method of D-Bus is given.
enum DBusArgument {
  case string(String)
  case path(String)
  case number(UInt32)
  case options([String: DBusArgument])

  /// As GVariant's text format has it.
  fileprivate var text: String {
    switch self {
    case .string(let value): Self.quoted(value)
    case .path(let value): "objectpath \(Self.quoted(value))"
    case .number(let value): "uint32 \(value)"
    case .options(let values):
      "@a{sv} {\(values.map { "\(Self.quoted($0.key)): <\($0.value.text)>" }.joined(separator: ", "))}"
    }
  }

  private static func quoted(_ value: String) -> String {
    "'\(value.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined())'"
  }
}

/// A value of D-Bus; a variant is what it holds.
final class DBusValue {
  let pointer: OpaquePointer

  /// - Parameter adopted: is released by this.
  init(adopting adopted: OpaquePointer) {
    guard g_variant_classify(adopted) == G_VARIANT_CLASS_VARIANT, let inner = g_variant_get_variant(adopted) else {
      pointer = adopted
      return
    }
    g_variant_unref(adopted)
    pointer = inner
  }

  convenience init(sharing shared: OpaquePointer) { self.init(adopting: g_variant_ref(shared)) }

  /// What a method is called with; nil for a string that is none.
  convenience init?(_ arguments: [DBusArgument]) {
    // A tuple of one has a comma behind it.
    let text = arguments.map(\.text).joined(separator: ", ") + (arguments.count == 1 ? "," : "")
    guard let parsed = g_variant_parse(nil, "(\(text))", nil, nil, nil) else { return nil }
    self.init(adopting: parsed)
  }

  deinit { g_variant_unref(pointer) }

  /// What a tuple or an array has at that place.
  subscript(place: Int) -> DBusValue? {
    guard g_variant_is_container(pointer) != 0, place < g_variant_n_children(pointer) else { return nil }
    return g_variant_get_child_value(pointer, gsize(place)).map(DBusValue.init(adopting:))
  }

  /// What a dictionary of strings has under that name.
  subscript(name: String) -> DBusValue? {
    guard String(cString: g_variant_get_type_string(pointer)) == "a{sv}" else { return nil }
    return g_variant_lookup_value(pointer, name, nil).map(DBusValue.init(adopting:))
  }

  /// Nil for what is neither a string nor a path.
  var string: String? {
    guard [G_VARIANT_CLASS_STRING, G_VARIANT_CLASS_OBJECT_PATH].contains(g_variant_classify(pointer)) else {
      return nil
    }
    return g_variant_get_string(pointer, nil).map { String(cString: $0) }
  }

  /// Nil for what is no unsigned number of 32 bits.
  var number: UInt32? {
    g_variant_classify(pointer) == G_VARIANT_CLASS_UINT32 ? g_variant_get_uint32(pointer) : nil
  }
}
