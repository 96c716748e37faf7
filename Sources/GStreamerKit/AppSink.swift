import CGStreamer
import CShims
public import MediaCore

/// The end of a pipeline where its media comes out. `max-buffers`, `drop` and `sync` are the template's business.
///
/// `@unchecked Sendable`: holds a counted reference to an element whose calls lock by themselves.
public final class AppSink: @unchecked Sendable {
  /// As in the pipeline's template.
  public let name: String
  private let shared: SharedElement

  init(name: String, shared: SharedElement) {
    self.name = name
    self.shared = shared
  }

  /// The format that arrives, once something has.
  public var caps: Caps? { Element(shared: shared, name: name).caps(ofPad: "sink") }

  /// Asks whoever encodes what arrives here for a keyframe.
  /// - Parameter time: of the frame that is to be one, or the first behind it; nil for the next one that is encoded.
  /// - Returns: whether somebody upstream took the request.
  @discardableResult
  public func requestKeyframe(at time: MediaTime? = nil) -> Bool {
    guard let pad = gst_element_get_static_pad(shared.pointer, "sink") else { return false }
    defer { gst_object_unref(pad) }
    return gst_pad_push_event(pad, gst_video_event_new_upstream_force_key_unit(time.clockTime, 1, 0)) != 0
  }

  /// Has whoever reads a file go on from that place in it, for all sinks; once the pipeline is prepared.
  /// - Parameter fromKeyframe: begins at the keyframe before it, without which nothing can be decoded; else exactly.
  /// - Returns: false where nobody can, or nothing is linked to this sink.
  public func seek(to position: Duration, fromKeyframe: Bool = false) -> Bool {
    let precision =
      fromKeyframe
      ? GST_SEEK_FLAG_KEY_UNIT.rawValue | GST_SEEK_FLAG_SNAP_BEFORE.rawValue : GST_SEEK_FLAG_ACCURATE.rawValue
    let flags = GstSeekFlags(GST_SEEK_FLAG_FLUSH.rawValue | precision)
    return gst_element_seek_simple(shared.pointer, GST_FORMAT_TIME, flags, gint64(position.nanoseconds)) != 0
  }

  /// Has whoever mixes or decodes frames leave out those that are shown up to a moment, since it is too late for them.
  /// - Parameter time: of a frame that has arrived.
  public func leaveOut(after time: MediaTime, for duration: Duration) {
    guard let pad = gst_element_get_static_pad(shared.pointer, "sink") else { return }
    defer { gst_object_unref(pad) }
    let late = GstClockTimeDiff(duration.nanoseconds)
    gst_pad_push_event(pad, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, late, MediaTime?(time).clockTime))
  }
}

/// The closures of a sink. The variables are touched by whoever streams into it, one thread at a time: GStreamer has
/// them wait for each other.
private final class SinkCallbacks: Callback {
  let onBuffer: @Sendable (MediaBuffer) -> Void
  let onEnd: @Sendable () -> Void
  private let onMark: @Sendable () -> Void
  private let describe: @Sendable (Caps) -> Caps
  /// Nanoseconds by which the template moves the time at which the sink shows what arrives.
  private let timeOffset: Int64
  /// The caps that came last, and what is said of them.
  private var format: (caps: Caps, said: MediaFormat)?
  private var quarterTurns = 0

  init(
    timeOffset: Int64, describe: @escaping @Sendable (Caps) -> Caps,
    onBuffer: @escaping @Sendable (MediaBuffer) -> Void, onEnd: @escaping @Sendable () -> Void,
    onMark: @escaping @Sendable () -> Void
  ) {
    self.timeOffset = timeOffset
    self.describe = describe
    self.onBuffer = onBuffer
    self.onEnd = onEnd
    self.onMark = onMark
  }

  func take(_ sample: OpaquePointer) {
    inTurn { deliver(sample) }
  }

  /// Takes what comes between the buffers.
  /// - Returns: whether it was for us alone.
  func take(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    guard !StreamMark.isMark(event) else {
      onMark()
      return true
    }
    inTurn { OrientationTag.quarterTurns(in: event).map { quarterTurns = $0 } }
    return false
  }

  /// Tells the thread sanitizer of GStreamer's locks.
  private func inTurn(_ body: () -> Void) {
    let address = Unmanaged.passUnretained(self).toOpaque()
    shim_handoff_acquire(address)
    body()
    shim_handoff_release(address)
  }

  private func deliver(_ sample: OpaquePointer) {
    guard let buffer = gst_sample_get_buffer(sample) else { return }
    onBuffer(
      MediaBuffer(
        retaining: buffer, format: format(of: sample), shift: shift(of: sample), quarterTurns: quarterTurns))
  }

  private func format(of sample: OpaquePointer) -> MediaFormat {
    let pointer = gst_sample_get_caps(sample)
    if let format, pointer == nil || format.caps.pointer == pointer { return format.said }
    let caps = pointer.map(Caps.init(retaining:)) ?? Caps(adopting: gst_caps_new_any())
    let said = MediaFormat(describe(caps))
    format = (caps, said)
    return said
  }

  /// Running time begins at the segment's start plus what was played before it.
  private func shift(of sample: OpaquePointer) -> Int64 {
    guard let segment = gst_sample_get_segment(sample), segment.pointee.format == GST_FORMAT_TIME else {
      return timeOffset
    }
    return Int64(truncatingIfNeeded: segment.pointee.base &- segment.pointee.start) &+ timeOffset
  }
}

extension Pipeline {
  /// Takes what arrives at the appsink of that name, at the times at which a sink would show it: its `ts-offset` moves
  /// them. Call it before `start`, once for each sink.
  ///
  /// - Parameters:
  ///   - onBuffer: runs on the sink's streaming thread for each buffer; while it runs, the next one waits.
  ///   - onEnd: runs there when the stream has ended.
  ///   - onMark: runs there when a mark of `AppSource.pushMark()` has come, behind what was in front of it.
  @discardableResult
  public func appSink(
    named name: String, onBuffer: @escaping @Sendable (MediaBuffer) -> Void, onEnd: @escaping @Sendable () -> Void = {},
    onMark: @escaping @Sendable () -> Void = {}
  ) throws(PipelineError) -> AppSink {
    try AppSink(try element(named: name), until: detachments, onBuffer: onBuffer, onEnd: onEnd, onMark: onMark)
  }
}

extension AppSink {
  /// - Parameters:
  ///   - detachments: take the closures off again.
  ///   - describe: what is said of the format that arrives.
  convenience init(
    _ element: Element, until detachments: Detachments, describe: @escaping @Sendable (Caps) -> Caps = { $0 },
    onBuffer: @escaping @Sendable (MediaBuffer) -> Void, onEnd: @escaping @Sendable () -> Void = {},
    onMark: @escaping @Sendable () -> Void = {}
  ) throws(PipelineError) {
    let (shared, name) = (element.shared, element.name)
    guard shim_is_app_sink(shared.pointer) != 0 else {
      throw PipelineError(.noSuchElement, "element \"\(name)\" is not an appsink", element: name)
    }
    let offset = Element(shared: shared, name: name).int("ts-offset") ?? 0
    let callbacks = SinkCallbacks(
      timeOffset: Int64(offset), describe: describe, onBuffer: onBuffer, onEnd: onEnd, onMark: onMark)
    Self.setCallbacks(of: shared, callbacks, until: detachments)
    try shared.staticPad("sink", named: name).addProbe(
      GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      PadProbe { info in
        guard let event = info.pointee.data?.assumingMemoryBound(to: GstEvent.self) else { return GST_PAD_PROBE_OK }
        return callbacks.take(event) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK
      }, until: detachments)
    try shared.staticPad("sink", named: name).takeFramesAsDecoded(until: detachments)
    self.init(name: name, shared: shared)
  }

  private static func setCallbacks(of sink: SharedElement, _ closures: SinkCallbacks, until detachments: Detachments) {
    var callbacks = GstAppSinkCallbacks()
    callbacks.eos = { _, data in
      if let data { SinkCallbacks.from(data).onEnd() }
    }
    callbacks.new_sample = { sink, data in
      guard let sink, let data, let sample = gst_app_sink_pull_sample(sink) else { return GST_FLOW_EOS }
      SinkCallbacks.from(data).take(sample)
      gst_sample_unref(sample)
      return GST_FLOW_OK
    }
    // A last sample would keep the newest frame's memory alive for nobody.
    gst_util_set_object_arg(sink.pointer.cast(), "enable-last-sample", "false")
    gst_app_sink_set_callbacks(sink.pointer.cast(), &callbacks, closures.passToC(), Callback.destroy)
    detachments.add {
      var none = GstAppSinkCallbacks()
      gst_app_sink_set_callbacks(sink.pointer.cast(), &none, nil, nil)
    }
  }
}
