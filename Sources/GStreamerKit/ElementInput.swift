import CGStreamer
import CShims
public import MediaCore

extension Element {
  /// Calls `body` ahead of each buffer that passes a pad of the element, for as long as somebody holds this: on the streaming
  /// thread, and after the pad was told the buffer's format.
  /// - Parameters:
  ///   - pad: where buffers come, or `src` where they leave.
  ///   - body: called with when the buffer is to be shown; nil when it has no time.
  /// - Throws: `noSuchElement` where it has no such pad.
  public func beforeEachBuffer(
    at pad: String = "sink", _ body: @escaping @Sendable (Element, MediaTime?) -> Void
  ) throws(PipelineError) {
    // The element holds the pad, and that the probe.
    let probe = PadProbe { [weak shared, name] info in
      guard let shared, let buffer = info.pointee.data?.assumingMemoryBound(to: GstBuffer.self) else {
        return GST_PAD_PROBE_OK
      }
      shim_handoff_acquire(buffer)
      let time = MediaTime(clockTime: buffer.pointee.pts, shift: 0)
      shim_handoff_release(buffer)
      body(Element(shared: shared, name: name), time)
      return GST_PAD_PROBE_OK
    }
    try shared.staticPad(pad, named: name).addProbe(GST_PAD_PROBE_TYPE_BUFFER, probe)
  }
}
