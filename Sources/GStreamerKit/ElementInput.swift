import CGStreamer

extension Element {
  /// Calls `body` ahead of each buffer that comes to the element's pad `sink`, for as long as somebody holds this: on the
  /// streaming thread, and after the element was told the buffer's format.
  /// - Throws: `noSuchElement` where it has no such pad.
  public func beforeEachBuffer(_ body: @escaping @Sendable (Element) -> Void) throws(PipelineError) {
    // The element holds the pad, and that the probe.
    let probe = PadProbe { [weak shared, name] _ in
      if let shared { body(Element(shared: shared, name: name)) }
      return GST_PAD_PROBE_OK
    }
    try shared.staticPad("sink", named: name).addProbe(GST_PAD_PROBE_TYPE_BUFFER, probe)
  }
}
