import Foundation
import MediaCore

extension Track {
  /// Of a track of this process: measures what is sent now.
  /// - Returns: nil when that was done of late, or statistics are not wanted any more.
  func measureSent(after age: Duration) -> TrackStatistics? {
    let outgoing = (self as? any CapturedTrack)?.publisher.publication?.outgoing.withLock { $0 }
    let counts =
      outgoing?.layers.map {
        OutboundMeter.Count(ssrc: $0.stream.ssrc, sent: $0.stream.statistics, layer: $0.sent)
      } ?? []
    let (now, timestamp) = (MediaTime.now, Date().timeIntervalSince1970 * 1000)
    return state.withLock { state in
      var meter = state.reporting.outbound ?? OutboundMeter()
      guard state.reporting.isWanted, meter.isDue(at: now, after: age) else { return nil }
      let statistics = TrackStatistics(
        outboundRtp: meter.report(counts, isVideo: kind == .video, at: now, timestamp: timestamp))
      state.reporting.outbound = meter
      state.reporting.newest = statistics
      return statistics
    }
  }
}
