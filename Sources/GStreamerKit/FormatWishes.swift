import CGStreamer

extension Pipeline {
  /// Runs `handler` when a sink asks for another format, as a window does whose size has changed. It runs on a thread of
  /// the sink's and should only pass the news on. Call it before `start`.
  public func onFormatWish(
    ofSinkNamed name: String, _ handler: @escaping @Sendable () -> Void
  ) throws(PipelineError) {
    let pad = try staticPad("sink", of: try element(named: name).shared, named: name)
    addProbe(
      to: pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
      PadProbe { info in
        let event = info.pointee.data?.assumingMemoryBound(to: GstEvent.self)
        if let event, event.pointee.type == GST_EVENT_RECONFIGURE { handler() }
        return GST_PAD_PROBE_OK
      })
  }
}
