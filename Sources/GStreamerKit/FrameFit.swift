import CGStreamer
import MediaCore

/// Whether raw frames are as large as their caps say, as far as their memory tells: a source may not notice that what it
/// shows has another size, and a converter hands on what its memory held before. And whether the source is to be asked
/// for its caps, which it may also have missed where it gives nothing but the last frame again. Pure.
struct FrameFit: Sendable {
  enum Verdict: Equatable, Sendable {
    case fits
    /// Nothing is in it.
    case empty
    /// The caps are of another size.
    case another
  }

  /// Before another question: a source that cannot do it would do nothing else, and a still screen gives the same frame
  /// all the time.
  private static let pause = (ofMisfits: Duration.seconds(1), ofRepeats: Duration.seconds(2))

  /// Bytes of a frame without padding, as the caps say; nil for what is not raw.
  var least: Int? { didSet { size = nil } }
  /// Of the first one under these caps: lines may be padded.
  private var size: Int?
  /// Where the frame before is.
  private var memory: UInt?
  private var asked: MediaTime?

  init(least: Int?) { self.least = least }

  /// - Parameters:
  ///   - bytes: of a frame.
  ///   - memory: its address.
  /// - Returns: also whether the source is to be asked.
  mutating func take(_ bytes: Int, in memory: UInt?, at now: MediaTime) -> (Verdict, asks: Bool) {
    let verdict = take(bytes)
    let isRepeated = memory != nil && memory == self.memory
    self.memory = memory
    let pause = verdict == .another ? Self.pause.ofMisfits : Self.pause.ofRepeats
    guard verdict == .another || isRepeated, asked.map({ now - $0 >= pause }) ?? true else {
      return (verdict, asks: false)
    }
    asked = now
    return (verdict, asks: true)
  }

  private mutating func take(_ bytes: Int) -> Verdict {
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
  /// anew; so it does at times while the same frame comes again.
  public func leaveOutMisfits(into name: String) throws(PipelineError) {
    let pad = try staticPad("sink", of: try element(named: name).shared, named: name)
    let fit = Locked(FrameFit(least: nil))
    let types = GstPadProbeType(
      rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue)
    addProbe(
      to: pad, types,
      PadProbe { info in
        guard let data = info.pointee.data else { return GST_PAD_PROBE_OK }
        guard info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0 else {
          let least = Self.frameSize(data.assumingMemoryBound(to: GstEvent.self))
          if let least { fit.withLock { $0.least = least } }
          return GST_PAD_PROBE_OK
        }
        let buffer = data.assumingMemoryBound(to: GstBuffer.self)
        let bytes = Int(gst_buffer_get_size(buffer))
        // One that is empty has none.
        let memory = bytes > 0 ? gst_buffer_peek_memory(buffer, 0).map { UInt(bitPattern: $0) } : nil
        let (verdict, asks) = fit.withLock { $0.take(bytes, in: memory, at: .now) }
        // It goes as far as the source, which finds its caps once more ahead of the next frame.
        if asks { gst_pad_push_event(pad.pointer, gst_event_new_reconfigure()) }
        return verdict == .fits ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
      })
  }

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
