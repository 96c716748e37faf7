import CGStreamer

extension Pipeline {
  /// Lets the format travel through a jitter buffer before the first packet enters it.
  ///
  /// An `rtpjitterbuffer` with `faststart-min-packets=1` passes the first packet on at once, but in GStreamer 1.22 only
  /// if nothing else is in its queue. The format comes right ahead of the first packet, so whether it has left the
  /// queue by then is a matter of luck, and without luck the first packet waits for the next one or for the whole
  /// latency. A query that has to take its turn in that queue comes back when the queue is empty.
  func settleBeforeFirstPacket(_ source: Element) throws(PipelineError) {
    let pad = try staticPad("src", of: source.shared, named: source.name)
    let packets = GstPadProbeType(
      rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue)
    gst_pad_add_probe(
      pad.pointer, packets,
      { pad, _, _ in
        if let pad { Pipeline.settle(behind: pad) }
        return GST_PAD_PROBE_REMOVE
      }, nil, nil)
  }

  /// Returns when what was pushed from a pad has left the queue behind it.
  static func settle(behind pad: UnsafeMutablePointer<GstPad>) {
    guard let query = gst_query_new_drain() else { return }
    gst_pad_peer_query(pad, query)
    gst_query_unref(query)
  }
}
