import CGStreamer

/// The counters of an `rtpjitterbuffer`, in packets unless said otherwise.
public struct JitterBufferStatistics: Hashable, Sendable {
  /// Passed on.
  public var pushed = 0
  /// Given up on.
  public var lost = 0
  /// Came after they had been counted as lost.
  public var late = 0
  /// That had come before.
  public var duplicates = 0
  /// Mean deviation of the packets' spacing, in nanoseconds.
  public var averageJitter = 0
  /// Times that a packet was asked for again.
  public var retransmissionsRequested = 0
  /// Packets that came for it.
  public var retransmissionsReceived = 0
}

extension Pipeline {
  /// What the jitter buffer of that name has counted; nil when there is none.
  public func jitterBufferStatistics(elementNamed name: String) -> JitterBufferStatistics? {
    guard let element = try? element(named: name) else { return nil }
    return element.read("stats") { value in
      guard let structure = gst_value_get_structure(value) else { return nil }
      func counter(_ field: String) -> Int {
        var count: guint64 = 0
        return gst_structure_get_uint64(structure, field, &count) != 0 ? Int(clamping: count) : 0
      }
      return JitterBufferStatistics(
        pushed: counter("num-pushed"), lost: counter("num-lost"), late: counter("num-late"),
        duplicates: counter("num-duplicates"), averageJitter: counter("avg-jitter"),
        retransmissionsRequested: counter("rtx-count"), retransmissionsReceived: counter("rtx-success-count"))
    }
  }
}
