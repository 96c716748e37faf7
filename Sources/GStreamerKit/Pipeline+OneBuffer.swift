import CGStreamer
public import MediaCore

extension Pipeline {
  /// Generous: it is only for elements that hang.
  private static let timeLimit = Duration.seconds(30)

  /// Sends one buffer from an appsrc to an appsink on the calling thread's time, and stops the pipeline: nothing else may
  /// be done with it.
  /// - Throws: what an element reports; `encode` when nothing comes out.
  public func process(
    _ media: MediaBuffer, from sourceName: String, to sinkName: String, at time: MediaTime? = nil
  ) throws(PipelineError) -> MediaBuffer {
    let source = try appSource(named: sourceName)
    let sink = try element(named: sinkName).shared
    // Errors are kept for this caller until `endStart`.
    delivery.beginStart()
    defer {
      gst_element_set_state(element, GST_STATE_NULL)
      delivery.close()
    }
    gst_element_set_state(element, GST_STATE_PLAYING)
    source.push(media, pts: time)
    source.endOfStream()
    let sample = gst_app_sink_try_pull_sample(sink.pointer.cast(), GstClockTime(Self.timeLimit.nanoseconds))
    defer { if let sample { gst_sample_unref(sample) } }
    if let error = delivery.endStart() { throw error }
    guard let sample, let buffer = gst_sample_get_buffer(sample), let caps = gst_sample_get_caps(sample) else {
      throw PipelineError(.encode, "nothing came of \(media.caps)")
    }
    return MediaBuffer(retaining: buffer, format: MediaFormat(Caps(retaining: caps)), shift: 0)
  }
}
