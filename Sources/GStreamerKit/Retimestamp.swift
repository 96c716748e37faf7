import CGStreamer
import CShims
public import MediaCore

extension Pipeline {
  /// Puts every RTP packet that leaves `name` onto another timeline.
  /// - Parameter clock: from the packet's RTP timestamp to its presentation time, or nil to leave it; called on a
  ///   streaming thread.
  public func retimestamp(
    packetsFrom name: String, _ clock: @escaping @Sendable (UInt32) -> MediaTime?
  ) throws(PipelineError) {
    guard let reference = find(name), let pad = shim_static_pad(reference.pointer, "src") else {
      throw .noElement(name)
    }
    defer { gst_object_unref(pad) }
    let types = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
    gst_pad_add_probe(pad, GstPadProbeType(rawValue: types), { _, info, raw in
      if let info { Unmanaged<PacketClock>.fromOpaque(raw!).takeUnretainedValue().apply(to: info) }
      return GST_PAD_PROBE_OK
    }, Unmanaged.passRetained(PacketClock(clock)).toOpaque(), { Unmanaged<PacketClock>.fromOpaque($0!).release() })
  }
}

private final class PacketClock {
  private let clock: @Sendable (UInt32) -> MediaTime?

  init(_ clock: @escaping @Sendable (UInt32) -> MediaTime?) { self.clock = clock }

  func apply(to info: UnsafeMutablePointer<GstPadProbeInfo>) {
    if let buffer = shim_probe_writable_buffer(info) {
      apply(to: buffer)
    } else if let list = shim_probe_writable_list(info) {
      for index in 0..<gst_buffer_list_length(list) {
        if let buffer = gst_buffer_list_get_writable(list, index) { apply(to: buffer) }
      }
    }
  }

  private func apply(to buffer: UnsafeMutablePointer<GstBuffer>) {
    var raw: UInt32 = 0
    // RFC 3550, 5.1: the timestamp stands in bytes 4 to 7.
    guard gst_buffer_extract(buffer, 4, &raw, 4) == 4, let time = clock(UInt32(bigEndian: raw)) else { return }
    shim_buffer_set_times(buffer, time.clockTime, time.clockTime, shim_buffer_duration(buffer))
  }
}
