import CGStreamer
import CShims
import MediaCore

// Where the planes of a frame lie in its memory. Its caps tell one layout, in which rows begin at multiples of four bytes;
// GstVideoMeta tells any other, for those who ask for it when memory is negotiated.

extension SharedPad {
  /// Has decoders decode into the frames that come here, in the layout in which they decode. An appsink by itself does not
  /// say that this can be read, and decoders copy each frame for it.
  func takeFramesAsDecoded(until detachments: Detachments) {
    addProbe(
      GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      PadProbe { info in
        guard let query = info.pointee.data?.assumingMemoryBound(to: GstQuery.self),
          shim_offer_frame_memory(query) != 0
        else { return GST_PAD_PROBE_OK }
        return GST_PAD_PROBE_HANDLED
      }, until: detachments)
  }

  /// Copies frames that leave here into the layout of their caps, unless what follows reads any layout.
  func copyFramesForPlainReaders(until detachments: Detachments) {
    // Nil while nobody has been asked.
    let readsAnyLayout = Locked<Bool?>(nil)
    let types =
      GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue
      | GST_PAD_PROBE_TYPE_EVENT_UPSTREAM.rawValue
    addProbe(
      GstPadProbeType(rawValue: types),
      PadProbe { info in
        guard info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0 else {
          if info.pointee.bringsNewReaders { readsAnyLayout.withLock { $0 = nil } }
          return GST_PAD_PROBE_OK
        }
        guard let buffer = info.pointee.data?.assumingMemoryBound(to: GstBuffer.self),
          gst_buffer_get_video_meta(buffer) != nil
        else { return GST_PAD_PROBE_OK }
        let isRead = readsAnyLayout.withLock { $0 } ?? self.peerReadsAnyLayout()
        readsAnyLayout.withLock { $0 = isRead }
        if !isRead, let copy = self.plainCopy(of: buffer) {
          gst_buffer_unref(buffer)
          info.pointee.data = UnsafeMutableRawPointer(copy)
        }
        return GST_PAD_PROBE_OK
      }, until: detachments)
  }

  private func peerReadsAnyLayout() -> Bool {
    guard let caps = gst_pad_get_current_caps(pointer) else { return false }
    defer { gst_caps_unref(caps) }
    guard let query = gst_query_new_allocation(caps, 0) else { return false }
    defer { gst_query_unref(query) }
    return gst_pad_peer_query(pointer, query) != 0
      && gst_query_find_allocation_meta(query, gst_video_meta_api_get_type(), nil) != 0
  }

  private func plainCopy(of buffer: UnsafeMutablePointer<GstBuffer>) -> UnsafeMutablePointer<GstBuffer>? {
    guard let caps = gst_pad_get_current_caps(pointer) else { return nil }
    defer { gst_caps_unref(caps) }
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps) != 0, let copy = newBuffer(info.size) else {
      return nil
    }
    guard Self.copySamples(of: buffer, to: copy, &info) else {
      gst_buffer_unref(copy)
      return nil
    }
    let kept = GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_TIMESTAMPS.rawValue
    gst_buffer_copy_into(copy, buffer, GstBufferCopyFlags(rawValue: kept), 0, .max)
    return copy
  }

  private static func copySamples(
    of buffer: UnsafeMutablePointer<GstBuffer>, to copy: UnsafeMutablePointer<GstBuffer>, _ info: inout GstVideoInfo
  ) -> Bool {
    var (source, target) = (GstVideoFrame(), GstVideoFrame())
    guard gst_video_frame_map(&source, &info, buffer, GST_MAP_READ) != 0 else { return false }
    defer { gst_video_frame_unmap(&source) }
    guard gst_video_frame_map(&target, &info, copy, GST_MAP_WRITE) != 0 else { return false }
    defer { gst_video_frame_unmap(&target) }
    return gst_video_frame_copy(&target, &source) != 0
  }
}

extension GstPadProbeInfo {
  /// Whether it is an event after which others may read what flows, or read it otherwise.
  fileprivate var bringsNewReaders: Bool {
    guard let event = data?.assumingMemoryBound(to: GstEvent.self) else { return false }
    return event.pointee.type == GST_EVENT_CAPS || event.pointee.type == GST_EVENT_RECONFIGURE
  }
}
