import CGStreamer
public import MediaCore

/// One buffer of media with its format: an access unit, a raw picture, a stretch of samples or a packet. It refers to
/// GStreamer's memory and keeps it alive; nothing is copied.
///
/// `@unchecked Sendable`: a buffer is never written to while this reference to it exists, and GStreamer counts
/// references atomically.
public final class MediaBuffer: @unchecked Sendable {
  let buffer: UnsafeMutablePointer<GstBuffer>
  let format: MediaFormat

  init(retaining buffer: UnsafeMutablePointer<GstBuffer>, format: MediaFormat) {
    self.buffer = gst_buffer_ref(buffer)
    self.format = format
  }

  /// A buffer of our own making.
  public init(
    copying bytes: UnsafeRawBufferPointer, caps: Caps, pts: MediaTime?, dts: MediaTime? = nil, duration: Duration? = nil
  ) {
    // The allocator of GLib ends the process when memory runs out, so there is always a buffer.
    buffer = gst_buffer_new_memdup(bytes.baseAddress, gsize(bytes.count))
    format = MediaFormat(caps)
    buffer.pointee.pts = pts.clockTime
    buffer.pointee.dts = dts.clockTime
    buffer.pointee.duration = duration.map { GstClockTime(max($0.nanoseconds, 0)) } ?? noTime
  }

  deinit { gst_buffer_unref(buffer) }

  public var caps: Caps { format.caps }

  /// When it is to be shown or heard.
  public var pts: MediaTime? { MediaTime(clockTime: buffer.pointee.pts) }
  /// When it is to be decoded.
  public var dts: MediaTime? { MediaTime(clockTime: buffer.pointee.dts) }
  public var duration: Duration? {
    MediaTime(clockTime: buffer.pointee.duration).map { .nanoseconds($0.nanoseconds) }
  }

  /// Whether it needs earlier buffers to be decoded; a keyframe does not.
  public var isDelta: Bool { has(GST_BUFFER_FLAG_DELTA_UNIT) }
  /// Whether it does not follow on from the buffer before.
  public var isDiscontinuous: Bool { has(GST_BUFFER_FLAG_DISCONT) }
  /// Whether it is a header and no media.
  public var isHeader: Bool { has(GST_BUFFER_FLAG_HEADER) }
  /// Whether a decoder had to make up parts of it.
  public var isCorrupted: Bool { has(GST_BUFFER_FLAG_CORRUPTED) }

  /// Bytes.
  public var size: Int { Int(gst_buffer_get_size(buffer)) }

  /// The bytes, valid inside `body` only; empty when the memory cannot be read.
  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else {
      return try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    defer { gst_buffer_unmap(buffer, &map) }
    return try body(UnsafeRawBufferPointer(start: map.data, count: Int(map.size)))
  }

  private func has(_ flag: GstBufferFlags) -> Bool { buffer.pointee.mini_object.flags & flag.rawValue != 0 }
}

extension MediaTime {
  init?(clockTime: GstClockTime) {
    guard clockTime <= GstClockTime(Int64.max) else { return nil }
    self.init(nanoseconds: Int64(clockTime))
  }
}

extension MediaTime? {
  /// GStreamer's form; a moment before the clock's start is none.
  var clockTime: GstClockTime { self.flatMap { GstClockTime(exactly: $0.nanoseconds) } ?? noTime }
}
