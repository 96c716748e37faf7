import CGStreamer
import CShims
public import MediaCore

extension Pipeline {
  /// Puts RTP packets on another timeline where they leave an element, usually the jitter buffer: `time` gets the RTP
  /// timestamp of each packet (RFC 3550, 5.1) and gives the presentation time, or nil to leave the packet as it is.
  /// It runs on the streaming thread. Call it before `start`.
  ///
  /// The mark of a discontinuity is taken off the first packet: nothing comes before it that could be missing, yet the
  /// depayloaders of GStreamer 1.22 would ask for a keyframe although they are being handed one.
  public func retimestamp(
    elementNamed name: String, pad: String = "src", _ time: @escaping @Sendable (UInt32) -> MediaTime?
  ) throws(PipelineError) {
    let pad = try staticPad(pad, of: try element(named: name).shared, named: name)
    // Only the pad's streaming thread reads and changes it.
    var isFirst = true
    addProbe(
      to: pad, .buffers,
      PadProbe { info in
        applyTimeline(time, to: info)
        if isFirst { clearDiscontinuity(info) }
        isFirst = false
        return GST_PAD_PROBE_OK
      })
  }
}

private typealias Timeline = (UInt32) -> MediaTime?

/// Replaces the data of a probe by a writable version of it with new times.
private func applyTimeline(_ time: Timeline, to info: UnsafeMutablePointer<GstPadProbeInfo>) {
  guard let data = info.pointee.data else { return }
  guard info.pointee.isList else {
    info.pointee.data = UnsafeMutableRawPointer(retimestamped(data.assumingMemoryBound(to: GstBuffer.self), time))
    return
  }
  guard let list = shim_buffer_list_make_writable(OpaquePointer(data)) else { return }
  info.pointee.data = UnsafeMutableRawPointer(list)
  for index in 0..<gst_buffer_list_length(list) {
    guard let buffer = gst_buffer_list_get_writable(list, index) else { continue }
    set(time, of: buffer)
  }
}

private func clearDiscontinuity(_ info: UnsafeMutablePointer<GstPadProbeInfo>) {
  guard let data = info.pointee.data else { return }
  let buffer =
    info.pointee.isList
    ? gst_buffer_list_get_writable(OpaquePointer(data), 0) : data.assumingMemoryBound(to: GstBuffer.self)
  buffer?.pointee.mini_object.flags &= ~GST_BUFFER_FLAG_DISCONT.rawValue
}

/// Takes over the caller's reference and gives one back.
private func retimestamped(
  _ buffer: UnsafeMutablePointer<GstBuffer>, _ time: Timeline
) -> UnsafeMutablePointer<GstBuffer> {
  guard let writable = shim_buffer_make_writable(buffer) else { return buffer }
  set(time, of: writable)
  return writable
}

private func set(_ time: Timeline, of buffer: UnsafeMutablePointer<GstBuffer>) {
  shim_handoff_acquire(buffer)
  var raw: UInt32 = 0
  guard gst_buffer_extract(buffer, 4, &raw, 4) == 4, let moment = time(UInt32(bigEndian: raw)) else { return }
  let clockTime = MediaTime?(moment).clockTime
  buffer.pointee.pts = clockTime
  // Frames arrive in decoding order and are shown in it, so both times are one.
  buffer.pointee.dts = clockTime
  shim_handoff_release(buffer)
}
