import Foundation
import MediaCore

/// Where the statistics of a track stand.
struct TrackReporting: Sendable {
  /// Who measures; nil before the track is received and afterwards.
  var reporter: StatisticsReporter?
  var isWanted = false
  var meter: InboundMeter?
  /// Of a track of this process.
  var outbound: OutboundMeter?
  var newest: TrackStatistics?
  /// Of what a track of this process is sent in besides its first codec.
  var newestOfOthers: [VideoCodec: TrackStatistics] = [:]
}

extension Track {
  /// What was measured last, about a second ago at most; nil unless statistics are reported. Those of a track that is
  /// no longer received stay as they were.
  public var statistics: TrackStatistics? { state.withLock { $0.reporting.newest } }

  /// Of the other codecs that the track is sent in: of its backup codec, while that is sent. Tracks of others have none.
  public var simulcastStatistics: [VideoCodec: TrackStatistics] { state.withLock { $0.reporting.newestOfOthers } }

  /// Turns statistics on, which delegates are then told each second, or off. They are off when a track is subscribed,
  /// unless `RoomOptions.reportRemoteTrackStatistics` says otherwise, and when one of this process is published. Without
  /// effect on a track that is neither received nor published.
  ///
  /// When it returns, `statistics` is there, or gone; only a call to a delegate that was under way may still come.
  public func set(reportStatistics: Bool) async {
    let reporter = state.withLock { state -> StatisticsReporter? in
      let reporter = state.reporting.reporter
      let isNews = reporter != nil && state.reporting.isWanted != reportStatistics
      if isNews { state.reporting = TrackReporting(reporter: reporter, isWanted: reportStatistics) }
      return isNews ? reporter : nil
    }
    guard let reporter else { return }
    reporter.follow(self)
    if reportStatistics { await reporter.measure(self) }
  }

  // MARK: For the room

  func beginStatistics(_ reporter: StatisticsReporter, isWanted: Bool) {
    state.withLock { $0.reporting = TrackReporting(reporter: reporter, isWanted: isWanted) }
    guard isWanted else { return }
    reporter.follow(self)
    Task { await reporter.measure(self) }
  }

  func endStatistics() {
    let reporter = state.withLock { state in
      defer { (state.reporting.reporter, state.reporting.isWanted) = (nil, false) }
      return state.reporting.reporter
    }
    reporter?.follow(self)
  }

  var wantsStatistics: Bool { state.withLock { $0.reporting.isWanted } }

  /// Measures now.
  /// - Parameter age: how old the last statistics have to be.
  /// - Returns: nil when they are not, or statistics are not wanted any more.
  func measure(roundTrip: Duration?, after age: Duration = .zero) async -> TrackStatistics? {
    guard let (incoming, earlier) = reception else { return measureSent(after: age) }
    if isMuted { incoming.meter.interrupt() }
    let sample = InboundMeter.Sample(
      time: .now, timestamp: Date().timeIntervalSince1970 * 1000,
      reception: earlier.added(to: await incoming.statistics()),
      decoder: earlier.added(to: incoming.meter.figures), roundTrip: roundTrip)
    return state.withLock { state in
      var meter =
        state.reporting.meter ?? InboundMeter(trackSid: incoming.trackSid, isVideo: incoming.isVideo)
      meter.trackSid = incoming.trackSid
      guard state.reporting.isWanted, meter.isDue(at: sample.time, after: age) else { return nil }
      let statistics = TrackStatistics(inboundRtp: [meter.report(sample)])
      state.reporting.meter = meter
      state.reporting.newest = statistics
      return statistics
    }
  }
}
