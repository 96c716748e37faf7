import CGStreamer
import RTP

/// What goes between the two elements and the others.
enum AV1Caps {
  static let units = "video/x-av1,stream-format=obu-stream,alignment=tu"
  static let packets = "application/x-rtp,media=video,clock-rate=90000,encoding-name=AV1"
}

/// The element `rtpav1pay`: temporal units of AV1 in, RTP packets of at most `mtu` bytes out. Debian's GStreamer 1.22 has
/// none; where a plug-in brings one, that is used.
enum AV1Payloader {
  static func register() {
    RTPElement.register(
      "rtpav1pay", type: "MediabridgeAV1Pay", parent: gst_rtp_base_payload_get_type(),
      class: GstRTPBasePayloadClass.self, instance: GstRTPBasePayload.self
    ) { pointer, _ in
      guard let pointer else { return }
      let made = pointer.assumingMemoryBound(to: GstRTPBasePayloadClass.self)
      RTPElement.describe(
        made.cast(), "RTP AV1 payloader", "Codec/Payloader/Network/RTP", "Cuts AV1 into RTP packets",
        sink: AV1Caps.units, src: AV1Caps.packets)
      made.pointee.set_caps = { payloader, _ in
        gst_rtp_base_payload_set_options(payloader, "video", 1, "AV1", 90_000)
        return gst_rtp_base_payload_set_outcaps_structure(payloader, nil)
      }
      made.pointee.handle_buffer = { payloader, buffer in
        guard let payloader, let buffer else { return GST_FLOW_ERROR }
        defer { gst_buffer_unref(buffer) }
        return gst_rtp_base_payload_push_list(payloader, AV1Payloader.packets(of: buffer, for: payloader))
      }
    }
  }

  private static func packets(
    of unit: UnsafeMutablePointer<GstBuffer>, for payloader: UnsafeMutablePointer<GstRTPBasePayload>
  ) -> OpaquePointer? {
    let packets = gst_buffer_list_new()
    var map = GstMapInfo()
    guard gst_buffer_map(unit, &map, GST_MAP_READ) != 0 else { return packets }
    defer { gst_buffer_unmap(unit, &map) }
    let packetizer = AV1Packetizer(limit: Int(gst_rtp_buffer_calc_payload_len(payloader.pointee.mtu, 0, 0)))
    packetizer.packetize(UnsafeRawBufferPointer(start: map.data, count: Int(map.size))) { payload in
      guard let packet = gst_rtp_base_payload_allocate_output_buffer(payloader, guint(payload.count), 0, 0) else {
        return
      }
      packet.pointee.pts = unit.pointee.pts
      packet.pointee.dts = unit.pointee.dts
      var rtp = GstRTPBuffer()
      gst_rtp_buffer_map(packet, GST_MAP_WRITE, &rtp)
      payload.write(to: UnsafeMutableRawBufferPointer(start: gst_rtp_buffer_get_payload(&rtp), count: payload.count))
      gst_rtp_buffer_set_marker(&rtp, payload.isLast ? 1 : 0)
      gst_rtp_buffer_unmap(&rtp)
      gst_buffer_list_insert(packets, -1, packet)
    }
    return packets
  }
}
