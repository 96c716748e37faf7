import CGStreamer
import CShims
import MediaCore

/// Whether raw frames are as large as their caps say, as far as their memory tells: a source may not notice that what it
/// shows has another size, and a converter hands on what its memory held before. Pure.
struct FrameFit: Sendable {
  enum Verdict: Equatable, Sendable {
    case fits
    /// Nothing is in it.
    case empty
    /// The caps are of another size.
    case another
  }

  /// Bytes of a frame without padding, as the caps say; nil for what is not raw.
  private let least: Int?
  /// Of the first one under these caps: lines may be padded.
  private var size: Int?

  init(least: Int?) { self.least = least }

  /// - Parameter bytes: of a frame.
  mutating func take(_ bytes: Int) -> Verdict {
    guard let least else { return .fits }
    guard bytes > 0 else { return .empty }
    guard bytes >= least, size.map({ $0 == bytes }) ?? true else {
      size = nil
      return .another
    }
    size = bytes
    return .fits
  }
}

extension Pipeline {
  /// Leaves out frames on their way into an element that have another size than their caps say, and has the source say it
  /// anew.
  public func leaveOutMisfits(into name: String) throws(PipelineError) {
    let pad = try staticPad("sink", of: try element(named: name).shared, named: name)
    let state = Locked((fit: FrameFit(least: nil), asked: MediaTime?.none))
    let types = GstPadProbeType(
      rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue)
    addProbe(
      to: pad, types,
      PadProbe { info in
        guard let data = info.pointee.data else { return GST_PAD_PROBE_OK }
        guard info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0 else {
          if let least = Self.frameSize(data.assumingMemoryBound(to: GstEvent.self)) {
            state.withLock { $0.fit = FrameFit(least: least) }
          }
          return GST_PAD_PROBE_OK
        }
        let bytes = Int(gst_buffer_get_size(data.assumingMemoryBound(to: GstBuffer.self)))
        let (verdict, asks) = state.withLock { state in
          let verdict = state.fit.take(bytes)
          let now = MediaTime.now
          let asks = verdict == .another && state.asked.map { now - $0 >= Self.patience } ?? true
          if asks { state.asked = now }
          return (verdict, asks)
        }
        // It goes as far as the source, which finds its caps once more ahead of the next frame.
        if asks { gst_pad_push_event(pad.pointer, gst_event_new_reconfigure()) }
        return verdict == .fits ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
      })
  }

  /// A source that cannot do it would otherwise do nothing else.
  private static let patience = Duration.seconds(1)

  /// Bytes of a frame under caps that come; nil for other events, and what is not raw.
  private static func frameSize(_ event: UnsafeMutablePointer<GstEvent>) -> Int? {
    guard event.pointee.type == GST_EVENT_CAPS else { return nil }
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_event_parse_caps(event, &caps)
    var info = GstVideoInfo()
    guard let caps, gst_video_info_from_caps(&info, caps) != 0 else { return nil }
    return Int(info.size)
  }
}
