import CGStreamer

/// GStreamer's tag of what a stream is called.
struct TitleTag {
  var title: String
  /// Whether it is of the whole and not of one stream in it.
  var isOfAll: Bool

  var event: UnsafeMutablePointer<GstEvent>? {
    guard let tags = gst_tag_list_new_empty() else { return nil }
    gst_tag_list_set_scope(tags, isOfAll ? GST_TAG_SCOPE_GLOBAL : GST_TAG_SCOPE_STREAM)
    var value = GValue()
    // G_TYPE_STRING, whose macro Swift does not import.
    g_value_init(&value, GType(16 << 2))
    defer { g_value_unset(&value) }
    g_value_set_string(&value, title)
    gst_tag_list_add_value(tags, GST_TAG_MERGE_REPLACE, GST_TAG_TITLE, &value)
    return gst_event_new_tag(tags)
  }
}
