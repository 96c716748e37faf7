/// What a track has sent, to be added up over sessions. Pure.
struct SentCount: Sendable, Equatable {
  /// Of RTP.
  var packets = 0
  /// Of their payload.
  var bytes = 0
  /// Frames that were not encoded in time.
  var leftOut = 0

  static func + (one: SentCount, other: SentCount) -> SentCount {
    SentCount(
      packets: one.packets + other.packets, bytes: one.bytes + other.bytes, leftOut: one.leftOut + other.leftOut)
  }
}

extension SentCount {
  /// - Parameters:
  ///   - track: nil for nothing.
  ///   - isFirst: whether it is in the first codec, whose frames count.
  init(_ track: OutgoingTrack?, isFirst: Bool) {
    guard let track else { return }
    for statistics in track.streams.map(\.statistics) {
      packets += statistics.packetsSent
      bytes += statistics.bytesSent
    }
    // In each layer the same frames may be missing.
    if isFirst { leftOut = track.layers.map(\.sent.leftOut).max() ?? 0 }
  }
}
