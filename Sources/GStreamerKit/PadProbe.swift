import CGStreamer
import CShims
public import MediaCore

/// A probe's closure: gets the probe's data and says what becomes of it.
final class PadProbe: Callback {
  let body: (UnsafeMutablePointer<GstPadProbeInfo>) -> GstPadProbeReturn
  init(_ body: @escaping (UnsafeMutablePointer<GstPadProbeInfo>) -> GstPadProbeReturn) { self.body = body }
}

extension GstPadProbeType {
  /// What flows, in single buffers or in lists.
  static let buffers = GstPadProbeType(
    rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue)
}

extension GstPadProbeInfo {
  /// Whether the probe's data is a list of buffers.
  var isList: Bool { type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0 }

  /// Calls `body` with the probe's buffer, or with each of its list.
  func forEachBuffer(_ body: (UnsafeMutablePointer<GstBuffer>) -> Void) {
    guard let data else { return }
    guard isList else { return body(data.assumingMemoryBound(to: GstBuffer.self)) }
    let list = OpaquePointer(data)
    for index in 0..<gst_buffer_list_length(list) { gst_buffer_list_get(list, index).map(body) }
  }
}

/// A reference to a pad that travels between threads.
///
/// `@unchecked Sendable`: GObject counts references atomically, and GStreamer's pad calls lock by themselves.
final class SharedPad: @unchecked Sendable {
  let pointer: UnsafeMutablePointer<GstPad>
  init(adopting pointer: UnsafeMutablePointer<GstPad>) { self.pointer = pointer }
  deinit { gst_object_unref(pointer) }
}

extension SharedElement {
  func staticPad(_ pad: String, named name: String) throws(PipelineError) -> SharedPad {
    guard let found = gst_element_get_static_pad(pointer, pad) else {
      throw PipelineError(.noSuchElement, "element \"\(name)\" has no pad \"\(pad)\"", element: name)
    }
    return SharedPad(adopting: found)
  }
}

extension SharedPad {
  /// Attaches a probe, which is removed and its closure released by `detachments`.
  func addProbe(_ types: GstPadProbeType, _ probe: PadProbe, until detachments: Detachments) {
    let identifier = addProbe(types, probe)
    detachments.add { gst_pad_remove_probe(self.pointer, identifier) }
  }

  /// Attaches a probe for as long as there is the pad.
  @discardableResult
  func addProbe(_ types: GstPadProbeType, _ probe: PadProbe) -> gulong {
    gst_pad_add_probe(
      pointer, types,
      { _, info, data in
        guard let info, let data else { return GST_PAD_PROBE_OK }
        return PadProbe.from(data).body(info)
      }, probe.passToC(), Callback.destroy)
  }
}

extension Pipeline {
  func staticPad(_ pad: String, of element: SharedElement, named name: String) throws(PipelineError) -> SharedPad {
    try element.staticPad(pad, named: name)
  }

  /// Leaves out buffers on their way into an element.
  /// - Parameter isLeftOut: called on a streaming thread, in order, with the time of each that has one; to return at once.
  public func leaveOut(
    into name: String, where isLeftOut: @escaping @Sendable (MediaTime) -> Bool
  ) throws(PipelineError) {
    let pad = try staticPad("sink", of: try element(named: name).shared, named: name)
    addProbe(
      to: pad, GST_PAD_PROBE_TYPE_BUFFER,
      PadProbe { info in
        guard let buffer = info.pointee.data?.assumingMemoryBound(to: GstBuffer.self) else { return GST_PAD_PROBE_OK }
        shim_handoff_acquire(buffer)
        guard let time = MediaTime(clockTime: buffer.pointee.pts, shift: 0) else { return GST_PAD_PROBE_OK }
        return isLeftOut(time) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK
      })
  }

  /// Attaches a probe that is removed, and its closure released, when the pipeline stops.
  func addProbe(to pad: SharedPad, _ types: GstPadProbeType, _ probe: PadProbe) {
    pad.addProbe(types, probe, until: detachments)
  }
}
