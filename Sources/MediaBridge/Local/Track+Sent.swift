import Foundation
import MediaCore

extension Track {
  /// Of a track of this process: measures what is sent now.
  /// - Returns: of its first codec; nil when that was done of late, or statistics are not wanted any more.
  func measureSent(after age: Duration) -> TrackStatistics? {
    let senders = (self as? any CapturedTrack)?.publisher.publication?.senders ?? []
    let counts = senders.map { sender in
      sender.layers.map { OutboundMeter.Count(ssrc: $0.stream.ssrc, sent: $0.stream.statistics, layer: $0.sent) }
    }
    let (now, timestamp) = (MediaTime.now, Date().timeIntervalSince1970 * 1000)
    return state.withLock { state in
      var meter = state.reporting.outbound ?? OutboundMeter()
      guard state.reporting.isWanted, meter.isDue(at: now, after: age) else { return nil }
      let statistics = meter.report(counts, isVideo: kind == .video, at: now, timestamp: timestamp)
      state.reporting.outbound = meter
      let others = zip(senders, statistics).dropFirst().compactMap { sender, statistics in
        VideoCodec(rawValue: sender.plan.codec).map { ($0, statistics) }
      }
      state.reporting.newest = statistics.first ?? TrackStatistics(outboundRtp: [])
      state.reporting.newestOfOthers = Dictionary(others) { $1 }
      return state.reporting.newest
    }
  }
}
