import CGStreamer

extension Pipeline {
  /// Runs `handler` when a depayloader, parser or decoder behind the appsrc asks for a keyframe. It runs on whatever
  /// thread asks, usually a streaming thread, and should only pass the wish on. Call it before `start`.
  public func onKeyframeRequest(
    atSourceNamed name: String, _ handler: @escaping @Sendable () -> Void
  ) throws(PipelineError) {
    let pad = try staticPad("src", of: try element(named: name).shared, named: name)
    onUpstreamEvent(at: pad, { gst_video_event_is_force_key_unit($0) != 0 }, handler)
  }

  /// Runs `handler` when a sink asks for another format, as a window does whose size has changed. It runs on a thread of
  /// the sink's and should only pass the news on. Call it before `start`.
  public func onFormatWish(
    ofSinkNamed name: String, _ handler: @escaping @Sendable () -> Void
  ) throws(PipelineError) {
    let pad = try staticPad("sink", of: try element(named: name).shared, named: name)
    onUpstreamEvent(at: pad, { $0.pointee.type == GST_EVENT_RECONFIGURE }, handler)
  }

  func onUpstreamEvent(
    at pad: SharedPad, _ isMeant: @escaping @Sendable (UnsafeMutablePointer<GstEvent>) -> Bool,
    _ handler: @escaping @Sendable () -> Void
  ) {
    addProbe(
      to: pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
      PadProbe { info in
        let event = info.pointee.data?.assumingMemoryBound(to: GstEvent.self)
        if let event, isMeant(event) { handler() }
        return GST_PAD_PROBE_OK
      })
  }
}
