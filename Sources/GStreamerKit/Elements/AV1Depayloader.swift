import Bitstream
import CGStreamer
import RTP

/// The element `rtpav1depay`: RTP packets of AV1 in their order in, whole temporal units out. Debian's GStreamer 1.22 has
/// none; where a plug-in brings one, that is used.
///
/// It begins with a keyframe. Behind a lost packet, and behind a unit that cannot be read, it asks for one and lets nothing
/// through before.
enum AV1Depayloader {
  private static let units = g_quark_from_static_string("mediabridge-av1-units")

  static func register() {
    RTPElement.register(
      "rtpav1depay", type: "MediabridgeAV1Depay", parent: gst_rtp_base_depayload_get_type(),
      class: GstRTPBaseDepayloadClass.self, instance: GstRTPBaseDepayload.self,
      instanceInit: { instance, _ in
        guard let instance else { return }
        g_object_set_qdata_full(
          UnsafeMutableRawPointer(instance).assumingMemoryBound(to: GObject.self), AV1Depayloader.units,
          AV1Units().passToC(),
          Callback.destroy)
      },
      classInit: { pointer, _ in
        guard let pointer else { return }
        let made = pointer.assumingMemoryBound(to: GstRTPBaseDepayloadClass.self)
        RTPElement.describe(
          made.cast(), "RTP AV1 depayloader", "Codec/Depayloader/Network/RTP", "Puts AV1 of RTP packets together",
          sink: AV1Caps.packets, src: AV1Caps.units)
        // Caps go out with the first keyframe, which says what is in them.
        made.pointee.set_caps = { depayloader, _ in
          depayloader?.pointee.clock_rate = 90_000
          return 1
        }
        made.pointee.process_rtp_packet = { depayloader, packet in
          guard let depayloader, let packet, let units = g_object_get_qdata(depayloader.cast(), AV1Depayloader.units)
          else {
            return nil
          }
          AV1Units.from(units).take(packet, of: depayloader)
          return nil
        }
      })
  }
}

/// The packets of the temporal unit that is coming. Touched by the element's streaming thread alone.
private final class AV1Units: Callback {
  /// Some megabytes: more are of a sender who never ends a unit.
  private static let limit = 8192
  private var payloads: [UnsafeMutablePointer<GstBuffer>] = []
  private var timestamp: UInt32 = 0
  private var pts = noTime
  private var awaitsKeyframe = true
  /// Of the stream, as the newest keyframe has it.
  private var record: [UInt8]?

  deinit { removeAll() }

  func take(_ packet: UnsafeMutablePointer<GstRTPBuffer>, of element: UnsafeMutablePointer<GstRTPBaseDepayload>) {
    guard let buffer = packet.pointee.buffer else { return }
    if buffer.pointee.mini_object.flags & GST_BUFFER_FLAG_DISCONT.rawValue != 0 { lose(of: element) }
    // A sender need not mark where its units end: then the next one says so.
    let timestamp = gst_rtp_buffer_get_timestamp(packet)
    if timestamp != self.timestamp { pushUnit(of: element) }
    (self.timestamp, pts) = (timestamp, buffer.pointee.pts)
    if payloads.count == Self.limit { lose(of: element) }
    if gst_rtp_buffer_get_payload_len(packet) > 0, let payload = gst_rtp_buffer_get_payload_buffer(packet) {
      payloads.append(payload)
    }
    if gst_rtp_buffer_get_marker(packet) != 0 { pushUnit(of: element) }
  }

  private func pushUnit(of element: UnsafeMutablePointer<GstRTPBaseDepayload>) {
    guard !payloads.isEmpty else { return }
    let unit = makeUnit()
    removeAll()
    guard let unit else { return lose(of: element) }
    let isKeyframe = unit.pointee.mini_object.flags & GST_BUFFER_FLAG_DELTA_UNIT.rawValue == 0
    guard isKeyframe || !awaitsKeyframe else {
      gst_buffer_unref(unit)
      return requestKeyframe(of: element)
    }
    if isKeyframe { announce(unit, of: element) }
    awaitsKeyframe = false
    gst_rtp_base_depayload_push(element, unit)
  }

  private func announce(
    _ unit: UnsafeMutablePointer<GstBuffer>, of element: UnsafeMutablePointer<GstRTPBaseDepayload>
  ) {
    var map = GstMapInfo()
    gst_buffer_map(unit, &map, GST_MAP_READ)
    let new = AV1OBUs(UnsafeRawBufferPointer(start: map.data, count: Int(map.size))).configurationRecord
    gst_buffer_unmap(unit, &map)
    guard new != record || gst_pad_has_current_caps(element.pointee.srcpad) == 0 else { return }
    record = new
    let hex = new.map { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
    // No rate is what live frames have; webmmux wants to be told.
    let caps = gst_caps_from_string(
      AV1Caps.units + ",framerate=(fraction)0/1" + (hex.map { ",codec_data=(buffer)\($0)" } ?? ""))
    gst_pad_set_caps(element.pointee.srcpad, caps)
    gst_caps_unref(caps)
  }

  /// What comes next cannot be decoded without a keyframe.
  private func lose(of element: UnsafeMutablePointer<GstRTPBaseDepayload>) {
    removeAll()
    guard !awaitsKeyframe else { return }
    awaitsKeyframe = true
    requestKeyframe(of: element)
  }

  private func requestKeyframe(of element: UnsafeMutablePointer<GstRTPBaseDepayload>) {
    gst_pad_push_event(element.pointee.sinkpad, gst_video_event_new_upstream_force_key_unit(noTime, 1, 0))
  }

  private func removeAll() {
    for payload in payloads { gst_buffer_unref(payload) }
    payloads.removeAll(keepingCapacity: true)
  }

  /// Nil where the packets are not all of a unit.
  private func makeUnit() -> UnsafeMutablePointer<GstBuffer>? {
    var maps: [GstMapInfo] = []
    defer { for index in maps.indices { gst_buffer_unmap(payloads[index], &maps[index]) } }
    for payload in payloads {
      var map = GstMapInfo()
      guard gst_buffer_map(payload, &map, GST_MAP_READ) != 0 else { return nil }
      maps.append(map)
    }
    let parts = maps.lazy.map { UnsafeRawBufferPointer(start: $0.data, count: Int($0.size)) }
    guard let assembly = AV1Assembly(parts), assembly.count > 0,
      let unit = newBuffer(gsize(assembly.count))
    else { return nil }
    unit.pointee.pts = pts
    unit.pointee.dts = pts
    var map = GstMapInfo()
    gst_buffer_map(unit, &map, GST_MAP_WRITE)
    defer { gst_buffer_unmap(unit, &map) }
    let bytes = UnsafeMutableRawBufferPointer(start: map.data, count: Int(map.size))
    assembly.write(to: bytes)
    if !AV1OBUs(UnsafeRawBufferPointer(bytes)).startsCodedSequence {
      unit.pointee.mini_object.flags |= GST_BUFFER_FLAG_DELTA_UNIT.rawValue
    }
    return unit
  }
}
