import CGStreamer
import CShims
import MediaCore

/// An `appsink` of a pipeline's text: where media leaves.
///
/// `@unchecked Sendable`: appsink is thread-safe by GStreamer's contract.
public final class AppSink: @unchecked Sendable {
  private let reference: ElementReference

  /// - Parameter onBuffer: called on a streaming thread for each buffer, in order; never after the pipeline's `stop()`.
  init?(_ reference: ElementReference, onBuffer: @escaping @Sendable (MediaBuffer) -> Void) {
    guard shim_is_app_sink(reference.pointer) != 0 else { return nil }
    self.reference = reference
    var callbacks = GstAppSinkCallbacks()
    callbacks.new_sample = { sink, raw in
      guard let sample = gst_app_sink_pull_sample(sink) else { return GST_FLOW_OK }
      if let media = MediaBuffer(owned: sample) {
        Unmanaged<Handler>.fromOpaque(raw!).takeUnretainedValue().call(media)
      }
      return GST_FLOW_OK
    }
    gst_app_sink_set_callbacks(
      shim_app_sink(reference.pointer), &callbacks, Unmanaged.passRetained(Handler(onBuffer)).toOpaque(),
      { Unmanaged<Handler>.fromOpaque($0!).release() })
  }

  /// Asks the encoder upstream for a keyframe.
  public func requestKeyframe() {
    guard let pad = shim_static_pad(reference.pointer, "sink") else { return }
    defer { gst_object_unref(pad) }
    gst_pad_push_event(pad, gst_video_event_new_upstream_force_key_unit(shim_clock_time_none(), 1, 0))
  }

  private final class Handler {
    let call: @Sendable (MediaBuffer) -> Void
    init(_ call: @escaping @Sendable (MediaBuffer) -> Void) { self.call = call }
  }
}

extension Pipeline {
  /// The `appsink` of this name, which from now on hands its buffers to `onBuffer`.
  public func sink(
    _ name: String, onBuffer: @escaping @Sendable (MediaBuffer) -> Void
  ) throws(PipelineError) -> AppSink {
    guard let reference = find(name), let sink = AppSink(reference, onBuffer: onBuffer) else { throw .noElement(name) }
    return sink
  }
}
