import CGStreamer
public import MediaCore

extension AppSource {
  /// A packet that waits to be pushed with others.
  public struct Packet: Sendable {
    fileprivate let buffer: PacketBuffer
    fileprivate let start: Int
    fileprivate let count: Int
    fileprivate let dts: MediaTime

    /// `count` bytes from `start` of a packet that must not be edited any more.
    public init(_ buffer: PacketBuffer, start: Int, count: Int, dts: MediaTime) {
      self.buffer = buffer
      self.start = start
      self.count = count
      self.dts = dts
    }

    fileprivate var isInside: Bool {
      start >= 0 && count > 0 && start <= buffer.count && count <= buffer.count - start
    }
  }

  /// Pushes packets that came together, so that they wake the pipeline's threads once. Those that claim more bytes than
  /// they have are left out.
  @discardableResult
  public func push(_ packets: [Packet]) -> PushResult {
    guard packets.count > 1 else {
      return packets.first.map { push($0.buffer, start: $0.start, count: $0.count, dts: $0.dts) } ?? .queued
    }
    guard let (list, size) = Self.makeList(packets) else { return .refused }
    announceAcceptedCaps()
    return push(list, size: size)
  }

  /// - Parameter size: of its buffers, which belong to the source from here on.
  @discardableResult
  func push(_ list: OpaquePointer, size: Int) -> PushResult {
    let count = Int(gst_buffer_list_length(list))
    let overflow = overflow
    guard count > 0, overflow == 0 || limits.isLeaky else {
      gst_buffer_list_unref(list)
      note(count, size: size, dropped: count)
      return count > 0 ? .full : .refused
    }
    guard gst_app_src_push_buffer_list(source, list) == GST_FLOW_OK else { return .refused }
    note(count, size: size, dropped: overflow)
    return overflow > 0 ? .full : .queued
  }

  /// - Parameter hasPTS: whether the packets' times are also those at which they are shown.
  static func makeList(_ packets: [Packet], hasPTS: Bool = false) -> (list: OpaquePointer, size: Int)? {
    guard let list = gst_buffer_list_new_sized(guint(packets.count)) else { return nil }
    var size = 0
    for packet in packets {
      guard let buffer = makeBuffer(packet, hasPTS: hasPTS) else { continue }
      gst_buffer_list_insert(list, -1, buffer)
      size += packet.count
    }
    return (list, size)
  }

  /// Nil for a packet that claims more bytes than it has.
  static func makeBuffer(_ packet: Packet, hasPTS: Bool = false) -> UnsafeMutablePointer<GstBuffer>? {
    guard packet.isInside, let buffer = wrap(packet.buffer, start: packet.start, count: packet.count) else {
      return nil
    }
    set(buffer, pts: hasPTS ? packet.dts : nil, dts: packet.dts, isDiscontinuous: false)
    return buffer
  }
}
