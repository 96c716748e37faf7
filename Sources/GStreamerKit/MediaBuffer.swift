import CGStreamer
import CShims
public import MediaCore

/// A piece of media out of a pipeline: encoded, raw or RTP. It keeps GStreamer's memory alive and never copies it.
///
/// `@unchecked Sendable`: a sample that has left its pipeline is only read.
public final class MediaBuffer: @unchecked Sendable {
  let sample: OpaquePointer
  let buffer: UnsafeMutablePointer<GstBuffer>

  /// Takes over one reference; nil for a sample without a buffer, which is released.
  init?(owned sample: OpaquePointer) {
    guard let buffer = gst_sample_get_buffer(sample) else {
      gst_sample_unref(sample)
      return nil
    }
    self.sample = sample
    self.buffer = buffer
  }

  deinit { gst_sample_unref(sample) }

  public var caps: Caps? { gst_sample_get_caps(sample).map(Caps.init(borrowed:)) }
  /// Presentation time; nil when the buffer has none.
  public var pts: MediaTime? { Self.time(shim_buffer_pts(buffer)) }
  public var dts: MediaTime? { Self.time(shim_buffer_dts(buffer)) }
  public var duration: Duration? { Self.time(shim_buffer_duration(buffer)).map { .nanoseconds($0.nanoseconds) } }
  /// False for a picture that can be decoded without others.
  public var isDelta: Bool { flags & GST_BUFFER_FLAG_DELTA_UNIT.rawValue != 0 }
  public var isDiscontinuity: Bool { flags & GST_BUFFER_FLAG_DISCONT.rawValue != 0 }
  public var byteCount: Int { Int(gst_buffer_get_size(buffer)) }

  /// The bytes for the time of the call; nil when GStreamer cannot map them.
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? {
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return nil }
    defer { gst_buffer_unmap(buffer, &map) }
    return try body(UnsafeRawBufferPointer(start: map.data, count: Int(map.size)))
  }

  private var flags: UInt32 { shim_buffer_flags(buffer) }

  static func time(_ value: GstClockTime) -> MediaTime? {
    value == shim_clock_time_none() ? nil : MediaTime(nanoseconds: Int64(clamping: value))
  }
}

extension MediaTime {
  /// As GStreamer takes it; times before zero have no meaning there.
  var clockTime: GstClockTime { GstClockTime(clamping: nanoseconds) }
}
