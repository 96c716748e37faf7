import CGStreamer

/// Elements that turn frames where there is something to turn.
enum IdleFlips {
  /// Has each `videoflip` of a bin pass on frames that are upright already. In GStreamer 1.22 one that was never told
  /// another direction copies them: it takes notice of changes only.
  static func passOn(in parsed: UnsafeMutablePointer<GstElement>) {
    guard g_type_check_instance_is_a(parsed.cast(), gst_bin_get_type()) != 0,
      let iterator = gst_bin_iterate_all_by_element_factory_name(parsed.cast(), "videoflip")
    else { return }
    defer { gst_iterator_free(iterator) }
    var item = GValue()
    while gst_iterator_next(iterator, &item) == GST_ITERATOR_OK {
      defer { g_value_unset(&item) }
      guard let flip = g_value_get_object(&item)?.assumingMemoryBound(to: GstElement.self) else { continue }
      gst_object_ref(flip)
      takeNotice(Element(shared: SharedElement(adopting: flip), name: "videoflip"))
    }
  }

  private static func takeNotice(_ flip: Element) {
    guard let direction = flip.string("video-direction") else { return }
    for value in ["180", direction] { try? flip.set("video-direction", to: value) }
  }
}
