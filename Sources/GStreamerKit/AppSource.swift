import CGStreamer
import CShims
public import MediaCore

/// An `appsrc` of a pipeline's text: where media enters.
///
/// `@unchecked Sendable`: appsrc is thread-safe by GStreamer's contract.
public final class AppSource: @unchecked Sendable {
  private let reference: ElementReference
  private let source: UnsafeMutablePointer<GstAppSrc>

  init?(_ reference: ElementReference) {
    guard shim_is_app_src(reference.pointer) != 0 else { return nil }
    self.reference = reference
    source = shim_app_src(reference.pointer)
    shim_configure_appsrc(reference.pointer)
  }

  /// What the text says this input takes; nil when it says nothing.
  public var acceptedCaps: Caps? {
    guard let caps = gst_app_src_get_caps(source) else { return nil }
    defer { gst_caps_unref(caps) }
    return Caps(borrowed: caps)
  }

  public func set(caps: Caps) { gst_app_src_set_caps(source, caps.pointer) }

  /// Bytes that wait for the pipeline.
  public var queuedBytes: Int { Int(gst_app_src_get_current_level_bytes(source)) }

  /// Hands a packet's memory to the pipeline without copying it.
  /// - Parameters:
  ///   - range: the packet within its buffer.
  ///   - time: when it arrived.
  /// - Returns: false when the pipeline takes nothing any more.
  @discardableResult
  public func push(_ packet: PacketBuffer, range: Range<Int>, at time: MediaTime) -> Bool {
    let owner = Unmanaged.passRetained(packet.owner)
    let buffer = packet.withUnsafeMutableBytes { bytes in
      precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "packet outside its buffer")
      // Sound: the owner keeps the memory at its place until GStreamer's last reference is gone.
      return gst_buffer_new_wrapped_full(
        GST_MEMORY_FLAG_READONLY, bytes.baseAddress, gsize(bytes.count), gsize(range.lowerBound), gsize(range.count),
        owner.toOpaque(), { Unmanaged<AnyObject>.fromOpaque($0!).release() })
    }
    guard let buffer else { return false }
    shim_buffer_set_times(buffer, time.clockTime, time.clockTime, shim_clock_time_none())
    return gst_app_src_push_buffer(source, buffer) == GST_FLOW_OK
  }

  /// Hands on what came out of another pipeline, sharing its memory, at another time.
  @discardableResult
  public func push(_ media: MediaBuffer, pts: MediaTime, duration: Duration? = nil) -> Bool {
    guard let buffer = shim_buffer_share(media.buffer) else { return false }
    return push(buffer, pts: pts, duration: duration)
  }

  @discardableResult
  public func push(_ bytes: [UInt8], pts: MediaTime, duration: Duration? = nil) -> Bool {
    guard let buffer = gst_buffer_new_allocate(nil, gsize(bytes.count), nil) else { return false }
    gst_buffer_fill(buffer, 0, bytes, gsize(bytes.count))
    return push(buffer, pts: pts, duration: duration)
  }

  public func endOfStream() { gst_app_src_end_of_stream(source) }

  /// Calls `handler` on a streaming thread whenever the pipeline asks for a keyframe.
  public func onKeyframeRequest(_ handler: @escaping @Sendable () -> Void) {
    guard let pad = shim_static_pad(reference.pointer, "src") else { return }
    defer { gst_object_unref(pad) }
    let box = Unmanaged.passRetained(Handler(handler))
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, { _, info, raw in
      guard let info, shim_probe_is_keyframe_request(info) != 0 else { return GST_PAD_PROBE_OK }
      Unmanaged<Handler>.fromOpaque(raw!).takeUnretainedValue().call()
      return GST_PAD_PROBE_DROP
    }, box.toOpaque(), { Unmanaged<Handler>.fromOpaque($0!).release() })
  }

  private final class Handler {
    let call: @Sendable () -> Void
    init(_ call: @escaping @Sendable () -> Void) { self.call = call }
  }

  /// `push_buffer` takes over the reference.
  private func push(_ buffer: UnsafeMutablePointer<GstBuffer>, pts: MediaTime, duration: Duration?) -> Bool {
    let length = duration.map { GstClockTime(clamping: $0.nanoseconds) } ?? shim_clock_time_none()
    shim_buffer_set_times(buffer, pts.clockTime, pts.clockTime, length)
    return gst_app_src_push_buffer(source, buffer) == GST_FLOW_OK
  }
}

extension Pipeline {
  /// The `appsrc` of this name.
  public func source(_ name: String) throws(PipelineError) -> AppSource {
    guard let reference = find(name), let source = AppSource(reference) else { throw .noElement(name) }
    return source
  }
}
