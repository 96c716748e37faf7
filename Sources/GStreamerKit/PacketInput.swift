import CGStreamer
import MediaCore

/// Where RTP packets go into a pipeline: what stands in its template as `appsrc`.
///
/// A jitter buffer behind it takes packets without waiting for anything and has a thread of its own. So there the
/// appsrc, with its queue and its thread, is taken out, and packets are put straight into the jitter buffer. Before
/// anything else the appsrc stays.
///
/// `@unchecked Sendable`: holds counted references to objects whose calls lock by themselves.
public final class PacketInput: @unchecked Sendable {
  /// The format that the template says; nil when it says none.
  public let acceptedCaps: Caps?
  fileprivate let output: SharedPad
  /// Nil when packets go straight on.
  private let source: AppSource?

  fileprivate init(acceptedCaps: Caps?, output: SharedPad, source: AppSource?) {
    self.acceptedCaps = acceptedCaps
    self.output = output
    self.source = source
  }

  deinit {
    guard source == nil else { return }
    gst_pad_set_active(output.pointer, 0)
    if let peer = gst_pad_get_peer(output.pointer) {
      gst_pad_unlink(output.pointer, peer)
      gst_object_unref(peer)
    }
  }

  /// Says of which format the packets are. Call it once the pipeline has started, before the first packet.
  public func begin(_ caps: Caps?) {
    if let source { return caps.map(source.set(caps:)) ?? () }
    gst_pad_push_event(output.pointer, gst_event_new_stream_start("rtp"))
    if let caps { gst_pad_push_event(output.pointer, gst_event_new_caps(caps.pointer)) }
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    gst_pad_push_event(output.pointer, gst_event_new_segment(&segment))
    Pipeline.settle(behind: output.pointer)
  }

  /// Takes packets that came together. Never waits, and is to be called by one thread at a time. Packets that claim
  /// more bytes than they have are left out.
  public func push(_ packets: [AppSource.Packet]) {
    if let source {
      source.push(packets)
    } else if packets.count == 1, let buffer = AppSource.makeBuffer(packets[0]) {
      gst_pad_push(output.pointer, buffer)
    } else if packets.count > 1, let (list, _) = AppSource.makeList(packets) {
      gst_pad_push_list(output.pointer, list)
    }
  }
}

extension Pipeline {
  /// The input in the place of the appsrc of that name. Call it before `start`, once.
  /// - Parameter onKeyframeRequest: runs when something behind it asks for a keyframe, on whatever thread asks, usually
  ///   a streaming thread, and should only pass the wish on.
  public func packetInput(
    named name: String, onKeyframeRequest: @escaping @Sendable () -> Void
  ) throws(PipelineError) -> PacketInput {
    let element = try element(named: name)
    let next = gst_pad_get_peer(try element.shared.staticPad("src", named: name).pointer).map(SharedPad.init(adopting:))
    let input: PacketInput
    if let next, Self.isJitterBuffer(next), let direct = direct(in: element, before: next) {
      input = direct
    } else {
      let source = try appSource(of: element)
      let output = try source.shared.staticPad("src", named: name)
      input = PacketInput(acceptedCaps: source.acceptedCaps, output: output, source: source)
    }
    onUpstreamEvent(at: input.output, { gst_video_event_is_force_key_unit($0) != 0 }, onKeyframeRequest)
    return input
  }

  private static func isJitterBuffer(_ pad: SharedPad) -> Bool {
    guard let owner = gst_pad_get_parent_element(pad.pointer).map(SharedElement.init(adopting:)) else { return false }
    return Element(shared: owner, name: "").factory == "rtpjitterbuffer"
  }

  /// Puts a pad of ours in the place of an appsrc.
  private func direct(in source: Element, before next: SharedPad) -> PacketInput? {
    guard let pad = gst_pad_new(source.name, GST_PAD_SRC) else { return nil }
    gst_object_ref_sink(pad)
    let output = SharedPad(adopting: pad)
    let caps = source.caps("caps")
    remove(source.shared)
    gst_pad_set_query_function_full(pad, answerLatency, nil, nil)
    gst_pad_set_active(pad, 1)
    gst_pad_link(pad, next.pointer)
    return PacketInput(acceptedCaps: caps, output: output, source: nil)
  }
}

/// Packets come live and with no delay that is known here.
private let answerLatency:
  @convention(c) (UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, UnsafeMutablePointer<GstQuery>?)
    -> gboolean = { pad, parent, query in
      guard let query, query.pointee.type == GST_QUERY_LATENCY else { return gst_pad_query_default(pad, parent, query) }
      gst_query_set_latency(query, 1, 0, noTime)
      return 1
    }
