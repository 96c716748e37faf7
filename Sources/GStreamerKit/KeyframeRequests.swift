import CGStreamer

extension Pipeline {
  /// Runs `handler` when a depayloader, parser or decoder behind the appsrc asks for a keyframe. It runs on whatever
  /// thread asks, usually a streaming thread, and should only pass the wish on. Call it before `start`.
  public func onKeyframeRequest(
    atSourceNamed name: String, _ handler: @escaping @Sendable () -> Void
  ) throws(PipelineError) {
    let pad = try staticPad("src", of: try element(named: name).shared, named: name)
    addProbe(
      to: pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
      PadProbe { info in
        let event = info.pointee.data?.assumingMemoryBound(to: GstEvent.self)
        if let event, gst_video_event_is_force_key_unit(event) != 0 { handler() }
        return GST_PAD_PROBE_OK
      })
  }
}
