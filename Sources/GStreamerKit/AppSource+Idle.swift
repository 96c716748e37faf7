import CGStreamer

extension AppSource {
  /// Calls `body` once while nothing of this source is on its way through what follows: at once, or on the streaming thread
  /// as soon as the buffer has gone through. What is pushed from now on comes behind it.
  public func whenIdle(_ body: @escaping @Sendable () -> Void) {
    guard let pad = try? shared.staticPad("src", named: name) else { return }
    let probe = PadProbe { _ in
      body()
      return GST_PAD_PROBE_REMOVE
    }
    gst_pad_add_probe(
      pad.pointer, GST_PAD_PROBE_TYPE_IDLE,
      { _, info, data in
        guard let info, let data else { return GST_PAD_PROBE_REMOVE }
        return PadProbe.from(data).body(info)
      }, probe.passToC(), Callback.destroy)
  }
}
