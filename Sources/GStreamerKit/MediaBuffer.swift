import CGStreamer
import CShims
public import MediaCore

/// One buffer of media with its format: an access unit, a raw frame, a stretch of samples or a packet. It refers to
/// GStreamer's memory and keeps it alive; nothing is copied.
///
/// `@unchecked Sendable`: a buffer is never written to while this reference to it exists, and GStreamer counts
/// references atomically.
public final class MediaBuffer: @unchecked Sendable {
  let buffer: UnsafeMutablePointer<GstBuffer>
  let format: MediaFormat
  private let isHeldTwice: Bool
  /// When it is to be shown or heard.
  public let pts: MediaTime?
  /// When it is to be decoded.
  public let dts: MediaTime?
  /// How many quarter turns clockwise make a frame upright, 0…3.
  public let quarterTurns: Int

  /// - Parameter shift: nanoseconds from the buffer's own times to running time, which is `MediaTime` here. Not zero
  ///   behind encoders that move their times to make room for earlier decoding times.
  init(
    retaining buffer: UnsafeMutablePointer<GstBuffer>, format: MediaFormat, shift: Int64, quarterTurns: Int = 0
  ) {
    shim_handoff_acquire(buffer)
    self.buffer = gst_buffer_ref(buffer)
    // Reading a writable buffer of several memories joins them in place; with two references it is not writable.
    isHeldTwice = gst_buffer_n_memory(buffer) > 1
    if isHeldTwice { gst_buffer_ref(buffer) }
    self.format = format
    self.quarterTurns = quarterTurns
    pts = MediaTime(clockTime: buffer.pointee.pts, shift: shift)
    dts = MediaTime(clockTime: buffer.pointee.dts, shift: shift)
  }

  /// A buffer of our own making.
  /// - Parameters:
  ///   - isDelta: whether it needs earlier buffers to be decoded, which a file's index has to know.
  ///   - quarterTurns: clockwise, 0…3, that make a frame upright.
  public init(
    copying bytes: UnsafeRawBufferPointer, caps: Caps, pts: MediaTime?, dts: MediaTime? = nil,
    duration: Duration? = nil, isDelta: Bool = false, quarterTurns: Int = 0
  ) {
    // The allocator of GLib ends the process when memory runs out, so there is always a buffer.
    buffer = gst_buffer_new_memdup(bytes.baseAddress, gsize(bytes.count))
    shim_handoff_acquire(buffer)
    isHeldTwice = false
    format = MediaFormat(caps)
    self.quarterTurns = quarterTurns
    self.pts = pts
    self.dts = dts
    buffer.pointee.duration = duration.map { GstClockTime(max($0.nanoseconds, 0)) } ?? noTime
    if isDelta { buffer.pointee.mini_object.flags |= GST_BUFFER_FLAG_DELTA_UNIT.rawValue }
  }

  deinit {
    // GLib hands the memory of a buffer that is done with to the next one.
    shim_handoff_release(buffer)
    if isHeldTwice { gst_buffer_unref(buffer) }
    gst_buffer_unref(buffer)
  }

  /// The format of what is in it.
  public var caps: Caps { format.caps }

  /// How long what is in it is to be seen or heard; nil when nobody said.
  public var duration: Duration? {
    MediaTime(clockTime: buffer.pointee.duration, shift: 0).map { .nanoseconds($0.nanoseconds) }
  }

  /// Whether it needs earlier buffers to be decoded; a keyframe does not.
  public var isDelta: Bool { has(GST_BUFFER_FLAG_DELTA_UNIT) }
  /// Whether it does not follow on from the buffer before.
  public var isDiscontinuous: Bool { has(GST_BUFFER_FLAG_DISCONT) }

  /// Bytes.
  public var size: Int { Int(gst_buffer_get_size(buffer)) }

  /// The same as it is once it has been turned: `videoflip` of GStreamer 1.22 leaves the tag that tells how.
  public var upright: MediaBuffer {
    quarterTurns == 0 ? self : MediaBuffer(retaining: buffer, format: format, shift: 0)
  }

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

/// A buffer of that many bytes for the caller to fill, who is to let it go. GLib gives it memory that another thread may
/// have had before.
/// - Parameter allocator: GStreamer's own when nil, which ends the process when memory runs out.
func newBuffer(
  _ size: gsize, of allocator: UnsafeMutablePointer<GstAllocator>? = nil
) -> UnsafeMutablePointer<GstBuffer>? {
  let buffer = gst_buffer_new_allocate(allocator, size, nil)
  shim_handoff_acquire(buffer)
  return buffer
}

extension MediaTime {
  init?(clockTime: GstClockTime, shift: Int64) {
    guard let time = Int64(exactly: clockTime) else { return nil }
    self.init(nanoseconds: time &+ shift)
  }
}

extension MediaTime? {
  /// GStreamer's form; a moment before the clock's start is none.
  var clockTime: GstClockTime { self.flatMap { GstClockTime(exactly: $0.nanoseconds) } ?? noTime }
}
