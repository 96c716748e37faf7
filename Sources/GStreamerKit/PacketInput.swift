import CGStreamer
import CShims
public import MediaCore
import Synchronization

/// Where RTP packets go into a pipeline: what stands in its template as `appsrc`.
///
/// Each thread between the network and what reads the packets costs more than its work. So what can be done without is
/// taken out: the appsrc ahead of a jitter buffer, which takes packets without waiting for anything and has a thread of
/// its own; and the jitter buffer too, where the template asks no more of it than order (`sequencing`), with a
/// `capssetter` behind it, whose fields the packets have from the beginning then. Before anything else the appsrc stays.
///
/// `@unchecked Sendable`: holds counted references to objects whose calls lock by themselves.
public final class PacketInput: @unchecked Sendable {
  /// What a jitter buffer did that was taken out, and whoever pushes packets does now: they come in their order, with
  /// the times at which they are to be shown, and `skip` tells of those that do not come.
  public struct Sequencing: Sendable, Equatable {
    /// How long a missing packet is waited for, at most.
    public var latency: Duration
    /// Whether what is behind the jitter buffer wants to be told of packets that do not come.
    public var tellsLosses: Bool
    /// Whether the depayloader behind a lost packet asks for a keyframe, and passes nothing on before one.
    public var awaitsKeyframes: Bool
  }

  private enum Way {
    case source(AppSource)
    /// Straight on, from the pad of ours.
    case direct
  }

  /// The format that the template says; nil when it says none.
  public let acceptedCaps: Caps?
  /// What is left to the caller; nil when the pipeline sees to it.
  public let sequencing: Sequencing?
  fileprivate let output: SharedPad
  private let way: Way
  private let hasFailed = Atomic(false)

  fileprivate init(_ source: AppSource, output: SharedPad) {
    (acceptedCaps, self.output, way, sequencing) = (source.acceptedCaps, output, .source(source), nil)
  }

  fileprivate init(acceptedCaps: Caps?, direct output: SharedPad, sequencing: Sequencing?) {
    (self.acceptedCaps, self.output, way, self.sequencing) = (acceptedCaps, output, .direct, sequencing)
  }

  deinit {
    guard case .direct = way else { return }
    gst_pad_set_active(output.pointer, 0)
    if let peer = gst_pad_get_peer(output.pointer) {
      gst_pad_unlink(output.pointer, peer)
      gst_object_unref(peer)
    }
  }

  /// Says of which format the packets are. Call it once the pipeline has started, before the first packet.
  public func begin(_ caps: Caps?) {
    if case .source(let source) = way { return caps.map(source.set(caps:)) ?? () }
    gst_pad_push_event(output.pointer, gst_event_new_stream_start("rtp"))
    if let caps { gst_pad_push_event(output.pointer, gst_event_new_caps(caps.pointer)) }
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    gst_pad_push_event(output.pointer, gst_event_new_segment(&segment))
    if sequencing == nil { Pipeline.settle(behind: output.pointer) }
  }

  /// Takes packets that came together. Never waits, and is to be called by one thread at a time. Packets that claim
  /// more bytes than they have are left out.
  public func push(_ packets: [AppSource.Packet]) {
    let hasPTS = sequencing != nil
    if case .source(let source) = way {
      source.push(packets)
    } else if packets.count == 1, let buffer = AppSource.makeBuffer(packets[0], hasPTS: hasPTS) {
      note(gst_pad_push(output.pointer, buffer))
    } else if packets.count > 1, let (list, _) = AppSource.makeList(packets, hasPTS: hasPTS) {
      note(gst_pad_push_list(output.pointer, list))
    }
  }

  private func note(_ result: GstFlowReturn) {
    if result.rawValue < GST_FLOW_OK.rawValue { fail(result) }
  }

  /// Posts what an appsrc would have posted, once.
  private func fail(_ result: GstFlowReturn) {
    switch result {
    // Which element has failed was said by itself, and what ends or is not linked is missed by nobody.
    case GST_FLOW_ERROR, GST_FLOW_EOS, GST_FLOW_FLUSHING, GST_FLOW_NOT_LINKED: return
    default: break
    }
    guard !hasFailed.exchange(true, ordering: .relaxed), let peer = gst_pad_get_peer(output.pointer) else { return }
    defer { gst_object_unref(peer) }
    guard let element = gst_pad_get_parent_element(peer) else { return }
    postRefusal(result, by: element)
    gst_object_unref(element)
  }

  /// Tells what is behind that a packet does not come, as a jitter buffer does (`do-lost`): a decoder of audio makes
  /// up for it. To be called between the packets ahead of it and those behind.
  /// - Parameters:
  ///   - time: when the packet would be shown or heard, for `duration`.
  public func skip(_ number: UInt16, at time: MediaTime, duration: Duration) {
    guard sequencing?.tellsLosses == true else { return }
    let (start, length) = (UInt64(max(time.nanoseconds, 0)), UInt64(max(duration.nanoseconds, 0)))
    let text =
      "GstRTPPacketLost, seqnum=(uint)\(number), timestamp=(guint64)\(start), duration=(guint64)\(length), retry=(uint)0"
    guard let lost = gst_structure_from_string(text, nil) else { return }
    gst_pad_push_event(output.pointer, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, lost))
  }
}

extension Pipeline {
  /// The input in the place of the appsrc of that name. Call it before `start`, once.
  /// - Parameter onKeyframeRequest: runs when something behind it asks for a keyframe, on whatever thread asks, usually a
  ///   streaming thread or the one that pushes, and should only pass the wish on.
  public func packetInput(
    named name: String, onKeyframeRequest: @escaping @Sendable () -> Void
  ) throws(PipelineError) -> PacketInput {
    let element = try element(named: name)
    let input: PacketInput
    if let jitter = Self.next(behind: element.shared), jitter.factory == Self.jitterBuffer,
      let direct = direct(in: element, before: jitter)
    {
      input = direct
    } else {
      let source = try appSource(of: element, until: detachments)
      input = PacketInput(source, output: try source.shared.staticPad("src", named: name))
    }
    onUpstreamEvent(at: input.output, { gst_video_event_is_force_key_unit($0) != 0 }, onKeyframeRequest)
    return input
  }

  /// As `tagOrientation(elementNamed:)`, of the packets that go in.
  public func tagOrientation(
    of input: PacketInput, _ quarterTurns: @escaping @Sendable (UnsafeRawBufferPointer) -> Int?
  ) {
    tagOrientation(at: input.output, quarterTurns)
  }

  private static let jitterBuffer = "rtpjitterbuffer"

  /// Puts a pad of ours in the place of an appsrc, and of the jitter buffer where that can be done without.
  private func direct(in source: Element, before jitter: Element) -> PacketInput? {
    let sequencing = Self.sequencing(insteadOf: jitter)
    let caps = source.caps("caps")
    let setter = sequencing.flatMap { _ in Self.capsSetter(behind: jitter, of: caps) }
    let last = sequencing == nil ? source.shared : setter?.shared ?? jitter.shared
    guard let next = Self.peer(of: last), let pad = gst_pad_new(source.name, GST_PAD_SRC) else { return nil }
    gst_object_ref_sink(pad)
    let output = SharedPad(adopting: pad)
    let added = setter?.caps("caps")
    remove(source.shared)
    if sequencing != nil { remove(jitter.shared) }
    if let setter { remove(setter.shared) }
    gst_pad_set_query_function_full(pad, answerLatency, nil, nil)
    gst_pad_set_active(pad, 1)
    gst_pad_link(pad, next.pointer)
    return PacketInput(acceptedCaps: caps?.merging(added), direct: output, sequencing: sequencing)
  }

  /// What whoever pushes has to do in the place of the element `jitter`; nil where the template asks for more of it
  /// than order, or where what is behind it would hold up whoever pushes.
  private static func sequencing(insteadOf jitter: Element) -> PacketInput.Sequencing? {
    guard jitter.name == "jitter",
      shim_has_defaults(jitter.shared.pointer, "name,parent,latency,do-lost,faststart-min-packets") != 0,
      endsInIdleTee(jitter), let latency = jitter.int("latency")
    else { return nil }
    return PacketInput.Sequencing(
      latency: .milliseconds(latency), tellsLosses: jitter.bool("do-lost") ?? false,
      awaitsKeyframes: awaitsKeyframes(behind: jitter))
  }

  private static func awaitsKeyframes(behind element: Element) -> Bool {
    guard let next = next(behind: element) else { return false }
    if next.bool("wait-for-keyframe") == true, next.bool("request-keyframe") == true { return true }
    return awaitsKeyframes(behind: next)
  }

  /// What only adds fields to caps on their way.
  private static func capsSetter(behind jitter: Element, of caps: Caps?) -> Element? {
    guard let setter = next(behind: jitter), setter.factory == "capssetter",
      shim_has_defaults(setter.shared.pointer, "name,parent,caps") != 0,
      let caps, setter.caps("caps")?.mediaType == caps.mediaType
    else { return nil }
    return setter
  }

  /// Whether packets only pass a depayloader on their way to a tee on which nothing hangs yet.
  private static func endsInIdleTee(_ element: Element) -> Bool {
    guard let next = next(behind: element) else { return false }
    switch next.factory {
    case "tee": return next.shared.pointer.pointee.numsrcpads == 0
    case "capssetter": return endsInIdleTee(next)
    case let depayloader: return depayloader.hasPrefix("rtp") && depayloader.hasSuffix("depay") && endsInIdleTee(next)
    }
  }

  private static func next(behind element: Element) -> Element? { next(behind: element.shared) }

  private static func next(behind element: SharedElement) -> Element? {
    guard let peer = peer(of: element),
      let owner = gst_pad_get_parent_element(peer.pointer).map(SharedElement.init(adopting:))
    else { return nil }
    return Element(shared: owner, name: GStreamerKit.name(of: owner.pointer.cast()) ?? "")
  }

  private static func peer(of element: SharedElement) -> SharedPad? {
    guard let pad = gst_element_get_static_pad(element.pointer, "src") else { return nil }
    defer { gst_object_unref(pad) }
    return gst_pad_get_peer(pad).map(SharedPad.init(adopting:))
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
