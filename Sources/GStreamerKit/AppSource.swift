import CGStreamer
import CShims
public import MediaCore

/// The start of a pipeline where media goes in. Times are `MediaTime`s and nothing is timestamped on the way.
///
/// How much may wait here (`max-buffers`, `max-bytes`) and what is dropped when it is full (`leaky-type`) stands in
/// the pipeline's template. A source never blocks its caller: when it is full and not leaky, the new buffer is dropped.
///
/// `@unchecked Sendable`: holds a counted reference to an element whose calls lock by themselves; the rest is `Locked`.
public final class AppSource: @unchecked Sendable {
  /// What has been offered since the start.
  public struct Counters: Hashable, Sendable {
    /// Also those that were dropped.
    public var buffers = 0
    /// Of those buffers.
    public var bytes = 0
    /// Buffers dropped because the source was full: the oldest or the new ones, as the template says. Packets that were
    /// pushed together also go together, so there may have been more.
    public var dropped = 0
  }

  /// What became of a buffer.
  public enum PushResult: Hashable, Sendable {
    /// It waits to be taken by the pipeline.
    case queued
    /// The queue was full and a buffer was dropped.
    case full
    /// The pipeline does not take data: not started, at its end, or failed.
    case refused
  }

  /// As in the pipeline's template.
  public let name: String
  /// The caps that the template gives the source: the formats that this pipeline can take. Nil means any.
  public let acceptedCaps: Caps?

  let shared: SharedElement
  let limits: Limits
  private let state = Locked(State())

  private struct State {
    var counters = Counters()
    var caps: Caps?
    var quarterTurns = 0
    /// Not told yet.
    var title: TitleTag?
  }

  struct Limits {
    let buffers: UInt64
    let bytes: UInt64
    let isLeaky: Bool

    init(_ element: Element) {
      buffers = UInt64(max(element.int("max-buffers") ?? 0, 0))
      bytes = UInt64(max(element.int("max-bytes") ?? 0, 0))
      isLeaky = element.string("leaky-type") != "none"
    }
  }

  /// - Parameter acceptedCaps: what the template says, which may be more than the element can be told.
  init(_ element: Element, acceptedCaps: Caps?) {
    name = element.name
    shared = element.shared
    limits = Limits(element)
    self.acceptedCaps = acceptedCaps
    for (property, value) in [("format", "time"), ("is-live", "true"), ("do-timestamp", "false"), ("block", "false")] {
      gst_util_set_object_arg(shared.pointer.cast(), property, value)
    }
  }

  var source: UnsafeMutablePointer<GstAppSrc> { shared.pointer.cast() }

  /// As of now.
  public var counters: Counters { state.withLock { $0.counters } }

  /// How much of what may wait here waits, 0…1; 0 where no limit is set.
  public var fullness: Double {
    let share = { (level: guint64, limit: UInt64) in limit > 0 ? Double(level) / Double(limit) : 0 }
    let buffers = share(gst_app_src_get_current_level_buffers(source), limits.buffers)
    return min(max(buffers, share(gst_app_src_get_current_level_bytes(source), limits.bytes)), 1)
  }

  /// Buffers that wait to be taken by the pipeline.
  public var queuedBuffers: Int { Int(gst_app_src_get_current_level_buffers(source)) }

  /// How long they last, by their times.
  public var queuedTime: Duration { .nanoseconds(Int64(clamping: gst_app_src_get_current_level_time(source))) }

  /// Sets the format of what is pushed from here on.
  public func set(caps: Caps) {
    state.withLock { $0.caps = caps }
    gst_app_src_set_caps(source, caps.pointer)
  }

  /// What the stream is called, told ahead of the next media; not of packets.
  /// - Parameter isOfAll: whether all that is multiplexed is called so.
  public func set(title: String, isOfAll: Bool = false) {
    state.withLock { $0.title = TitleTag(title: title, isOfAll: isOfAll) }
  }

  /// Pushes `count` bytes from `start` of a packet, whose memory is used in place and released when GStreamer is done.
  /// The packet must not be edited any more. Its format is `acceptedCaps` unless `set(caps:)` said otherwise.
  /// - Parameter discontinuity: whether it does not follow on from the packet before.
  @discardableResult
  public func push(
    _ packet: PacketBuffer, start: Int = 0, count: Int? = nil, pts: MediaTime? = nil, dts: MediaTime?,
    discontinuity: Bool = false
  ) -> PushResult {
    let used = packet.count
    let count = count ?? max(used - max(start, 0), 0)
    guard start >= 0, count > 0, start <= used, count <= used - start else { return .refused }
    guard let buffer = Self.wrap(packet, start: start, count: count) else { return .refused }
    announceAcceptedCaps()
    return push(buffer, pts: pts, dts: dts, isDiscontinuous: discontinuity)
  }

  /// Pushes media that came out of another pipeline, or out of `MediaBuffer.init(copying:…)`; the memory is shared. How
  /// frames are to be turned is told downstream with the tag `image-orientation`.
  /// - Parameters:
  ///   - pts: a new presentation time, nil to keep the buffer's own; likewise `dts`.
  ///   - updatingCaps: whether a change of the buffer's format is announced downstream. A multiplexer that cannot
  ///     change its format in mid-stream is fed with false after the first buffer.
  @discardableResult
  public func push(
    _ media: MediaBuffer, pts: MediaTime? = nil, dts: MediaTime? = nil, discontinuity: Bool = false,
    updatingCaps: Bool = true
  ) -> PushResult {
    announce(media, updatingCaps: updatingCaps)
    guard let buffer = gst_buffer_copy(media.buffer) else { return .refused }
    return push(
      buffer, pts: pts ?? media.pts, dts: dts ?? media.dts, isDiscontinuous: discontinuity || media.isDiscontinuous)
  }

  /// Has what follows wait for this source as long as it takes, as it does for a file. A multiplexer that knows its sources
  /// to be live goes on without one that is late by the clock. Call it before the start.
  public func setPatient() { gst_util_set_object_arg(shared.pointer.cast(), "is-live", "false") }

  /// Nothing comes after what has been pushed.
  public func endOfStream() { gst_app_src_end_of_stream(source) }
}

extension AppSource {
  /// Bytes without a format are of the one that the template says.
  func announceAcceptedCaps() {
    let caps: Caps? = state.withLock { state in
      guard state.caps == nil, let acceptedCaps, acceptedCaps.isFixed else { return nil }
      state.caps = acceptedCaps
      return acceptedCaps
    }
    if let caps { gst_app_src_set_caps(source, caps.pointer) }
  }

  /// Tells what holds from a buffer on.
  func announce(_ media: MediaBuffer, updatingCaps: Bool) {
    if updatingCaps { announce(media.caps) }
    announceTitle()
    announce(quarterTurns: media.quarterTurns)
  }

  private func announce(_ caps: Caps) {
    let isNew = state.withLock { state in
      if let current = state.caps, current == caps { return false }
      state.caps = caps
      return true
    }
    if isNew { gst_app_src_set_caps(source, caps.pointer) }
  }

  private func announceTitle() {
    let title = state.withLock { state in
      defer { state.title = nil }
      return state.title
    }
    if let event = title?.event { gst_element_send_event(shared.pointer, event) }
  }

  private func announce(quarterTurns: Int) {
    guard state.set(\.quarterTurns, to: quarterTurns) else { return }
    gst_element_send_event(shared.pointer, OrientationTag.event(quarterTurns: quarterTurns))
  }

  private func push(
    _ buffer: UnsafeMutablePointer<GstBuffer>, pts: MediaTime?, dts: MediaTime?, isDiscontinuous: Bool
  ) -> PushResult {
    Self.set(buffer, pts: pts, dts: dts, isDiscontinuous: isDiscontinuous)
    let size = Int(gst_buffer_get_size(buffer))
    let overflow = self.overflow
    guard overflow == 0 || limits.isLeaky else {
      gst_buffer_unref(buffer)
      note(1, size: size, dropped: 1)
      return .full
    }
    guard gst_app_src_push_buffer(source, buffer) == GST_FLOW_OK else { return .refused }
    note(1, size: size, dropped: overflow)
    return overflow > 0 ? .full : .queued
  }

  static func set(
    _ buffer: UnsafeMutablePointer<GstBuffer>, pts: MediaTime?, dts: MediaTime?, isDiscontinuous: Bool
  ) {
    shim_handoff_acquire(buffer)
    buffer.pointee.pts = pts.clockTime
    buffer.pointee.dts = dts.clockTime
    if isDiscontinuous { buffer.pointee.mini_object.flags |= GST_BUFFER_FLAG_DISCONT.rawValue }
    shim_handoff_release(buffer)
  }

  func note(_ buffers: Int, size: Int, dropped: Int) {
    state.withLock { state in
      state.counters.buffers &+= buffers
      state.counters.bytes &+= size
      state.counters.dropped &+= dropped
    }
  }

  /// How many buffers have to go before another one fits.
  var overflow: Int {
    if limits.bytes > 0 && gst_app_src_get_current_level_bytes(source) >= limits.bytes { return 1 }
    guard limits.buffers > 0 else { return 0 }
    let level = UInt64(gst_app_src_get_current_level_buffers(source))
    return level >= limits.buffers ? Int(level - limits.buffers) + 1 : 0
  }

  /// A GStreamer buffer over the packet's own memory, which it keeps alive.
  static func wrap(_ packet: PacketBuffer, start: Int, count: Int) -> UnsafeMutablePointer<GstBuffer>? {
    let owner = Unmanaged.passRetained(packet.owner).toOpaque()
    shim_handoff_release(owner)
    return packet.withUnsafeMutableBytes { bytes in
      // The address stays valid after this closure because `owner`, which holds the memory, is retained.
      gst_buffer_new_wrapped_full(
        GST_MEMORY_FLAG_READONLY, bytes.baseAddress, gsize(start + count), gsize(start), gsize(count), owner,
        { owner in
          guard let owner else { return }
          shim_handoff_acquire(owner)
          Unmanaged<AnyObject>.fromOpaque(owner).release()
        })
    }
  }
}

extension Pipeline {
  /// The appsrc of that name, set up for live media in `MediaTime`. Call it before `start`, once for each source.
  public func appSource(named name: String) throws(PipelineError) -> AppSource {
    try appSource(of: try element(named: name), until: detachments)
  }

  func appSource(of element: Element, until detachments: Detachments) throws(PipelineError) -> AppSource {
    guard shim_is_app_src(element.shared.pointer) != 0 else {
      throw PipelineError(.noSuchElement, "element \"\(element.name)\" is not an appsrc", element: element.name)
    }
    let caps = gst_app_src_get_caps(element.shared.pointer.cast()).map(Caps.init(adopting:))
    // What the template says can be several formats, or half of one; the first buffer brings the format to announce.
    let source = caps == nil ? element : try withoutCaps(element)
    if caps?.mediaType == "application/x-rtp" { try settleBeforeFirstPacket(source) }
    if caps == nil || caps?.mediaType == "video/x-raw" {
      try source.shared.staticPad("src", named: element.name).copyFramesForPlainReaders(until: detachments)
    }
    return AppSource(source, acceptedCaps: caps)
  }

  /// Puts an appsrc with the same properties but without caps in the place of one in the template. Taking the caps away
  /// from an appsrc does not work in GStreamer 1.22: it queues the absence like a buffer and then ends the process.
  private func withoutCaps(_ old: Element) throws(PipelineError) -> Element {
    guard let pointer = gst_element_factory_make("appsrc", nil) else {
      throw PipelineError(.missingElements(["appsrc"]), "missing element: appsrc", element: "appsrc")
    }
    gst_object_ref_sink(pointer)
    let new = SharedElement(adopting: pointer)
    shim_copy_properties(old.shared.pointer, pointer)
    guard let parent = gst_object_get_parent(old.shared.pointer.cast()) else { return old }
    defer { gst_object_unref(parent) }
    let output = try staticPad("src", of: old.shared, named: old.name)
    let input = gst_pad_get_peer(output.pointer).map(SharedPad.init(adopting:))
    gst_bin_remove(parent.cast(), old.shared.pointer)
    gst_object_set_name(pointer.cast(), old.name)
    gst_bin_add(parent.cast(), pointer)
    if let input { gst_pad_link(try staticPad("src", of: new, named: old.name).pointer, input.pointer) }
    return Element(shared: new, name: old.name)
  }
}
