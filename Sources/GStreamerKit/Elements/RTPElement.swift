import CGStreamer

/// Elements of our own, which templates name like those of plug-ins.
enum RTPElement {
  /// Call it once for each, before anything is made of it.
  /// - Parameter classInit: sets what the class does; called when the first element is made.
  static func register<Class, Instance>(
    _ name: String, type: String, parent: GType, class: Class.Type, instance: Instance.Type,
    instanceInit: GInstanceInitFunc? = nil, classInit: @escaping GClassInitFunc
  ) {
    if let other = gst_element_factory_find(name) {
      gst_object_unref(UnsafeMutableRawPointer(other))
      return
    }
    var info = GTypeInfo()
    info.class_size = guint16(MemoryLayout<Class>.size)
    info.instance_size = guint16(MemoryLayout<Instance>.size)
    info.class_init = classInit
    info.instance_init = instanceInit
    gst_element_register(nil, name, 0, g_type_register_static(parent, type, &info, GTypeFlags(rawValue: 0)))
  }

  /// Says what it is, and what goes in and comes out.
  static func describe(
    _ element: UnsafeMutablePointer<GstElementClass>, _ name: String, _ classification: String, _ description: String,
    sink: String, src: String
  ) {
    gst_element_class_set_metadata(element, name, classification, description, "mediabridge")
    for (name, direction, caps) in [("sink", GST_PAD_SINK, sink), ("src", GST_PAD_SRC, src)] {
      let caps = gst_caps_from_string(caps)
      gst_element_class_add_pad_template(element, gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps))
      gst_caps_unref(caps)
    }
  }
}
