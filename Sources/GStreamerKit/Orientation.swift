import CGStreamer
import MediaCore

extension Pipeline {
  /// Says downstream, with the tag `image-orientation`, how frames are to be turned: what leaves an element, usually
  /// the jitter buffer, is shown to `quarterTurns`, which gives the quarter turns clockwise from there on, or nil where
  /// they stay. It runs on the streaming thread, with bytes that are valid while it runs. Call it before `start`.
  ///
  /// The tag is one of the whole stream's: decoders keep such a one in its place between the frames, while one of the
  /// elementary stream may reach the frames that a decoder holds back.
  public func tagOrientation(
    elementNamed name: String, pad padName: String = "src",
    _ quarterTurns: @escaping @Sendable (UnsafeRawBufferPointer) -> Int?
  ) throws(PipelineError) {
    tagOrientation(at: try staticPad(padName, of: try element(named: name).shared, named: name), quarterTurns)
  }

  func tagOrientation(at pad: SharedPad, _ quarterTurns: @escaping @Sendable (UnsafeRawBufferPointer) -> Int?) {
    let known = Locked(0)
    addProbe(
      to: pad, .buffers,
      PadProbe { info in
        info.pointee.forEachBuffer { buffer in
          guard let turns = read(buffer, quarterTurns), known.set(\.self, to: turns) else { return }
          gst_pad_push_event(pad.pointer, OrientationTag.event(quarterTurns: turns))
        }
        return GST_PAD_PROBE_OK
      })
  }
}

private func read<Result>(
  _ buffer: UnsafeMutablePointer<GstBuffer>, _ body: (UnsafeRawBufferPointer) -> Result?
) -> Result? {
  var map = GstMapInfo()
  guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return nil }
  defer { gst_buffer_unmap(buffer, &map) }
  return body(UnsafeRawBufferPointer(start: map.data, count: Int(map.size)))
}

/// GStreamer's tag of how frames are to be turned to be upright.
enum OrientationTag {
  private static let values = ["rotate-0", "rotate-90", "rotate-180", "rotate-270"]

  /// - Parameter turns: quarter turns clockwise.
  static func event(quarterTurns turns: Int) -> UnsafeMutablePointer<GstEvent>? {
    let tags = gst_tag_list_new_from_string("taglist, \(GST_TAG_IMAGE_ORIENTATION)=(string)\(values[turns & 3])")
    guard let tags else { return nil }
    gst_tag_list_set_scope(tags, GST_TAG_SCOPE_GLOBAL)
    return gst_event_new_tag(tags)
  }

  /// The quarter turns clockwise that an event tells of; nil when it tells of something else.
  static func quarterTurns(in event: UnsafeMutablePointer<GstEvent>) -> Int? {
    guard event.pointee.type == GST_EVENT_TAG else { return nil }
    var tags: UnsafeMutablePointer<GstTagList>?
    gst_event_parse_tag(event, &tags)
    var text: UnsafeMutablePointer<gchar>?
    guard let tags, gst_tag_list_get_string(tags, GST_TAG_IMAGE_ORIENTATION, &text) != 0, let text else { return nil }
    defer { g_free(text) }
    return values.firstIndex(of: String(cString: text))
  }
}
