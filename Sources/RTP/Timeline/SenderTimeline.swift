public import MediaCore

/// Puts the tracks of one participant on the local time line: an RTP timestamp becomes the `MediaTime` at which that
/// moment would be seen and heard here if the network had only its least delay.
///
/// Before sender reports come, each track is placed by the arrival of its packets. A report says what its timestamps are
/// on the sender's wall clock (RFC 3550, 6.4.1); tracks that have one share a single offset between that clock and ours,
/// and are then as much in step as the sender says. Placements move by at most 2 % of the time that passes, so that
/// time never runs backwards within a track, except where a mapping was grossly wrong.
///
/// Pure: `received` wants each packet, or at least the first of each picture, with its arrival.
public struct SenderTimeline: Sendable {
  private var tracks: [TrackTimeline] = []
  /// Ours minus the sender's wall clock.
  private var wallOffset = OffsetFilter()
  /// All wall-clock times are taken relative to the first report, which keeps them small.
  private var epoch: NTPTime?

  public init() {}

  /// Adds a track, or begins it anew.
  public mutating func addTrack(_ ssrc: SSRC, clockRate: Int) {
    removeTrack(ssrc)
    tracks.append(TrackTimeline(ssrc: ssrc, clockRate: clockRate))
  }

  public mutating func removeTrack(_ ssrc: SSRC) { tracks.removeAll { $0.ssrc == ssrc } }

  /// Notes a packet of a track; one of an unknown stream is ignored.
  public mutating func received(_ ssrc: SSRC, timestamp: UInt32, at arrival: MediaTime) {
    guard let index = index(of: ssrc) else { return }
    tracks[index].note(timestamp, at: arrival)
    if let sent = tracks[index].wallTime(of: timestamp) { wallOffset.insert(arrival.nanoseconds &- sent, at: arrival) }
    tracks[index].steer(wallOffset: wallOffset.least, at: arrival)
  }

  /// Notes a sender report; one of an unknown stream is ignored.
  public mutating func received(_ report: SenderReport, at time: MediaTime) {
    guard let index = index(of: report.ssrc) else { return }
    let epoch = epoch ?? report.ntp
    self.epoch = epoch
    let isSteady = tracks[index].note(report, wall: report.ntp.since(epoch).nanoseconds)
    // The sender's wall clock was set: what was learnt about it is void.
    if !isSteady { wallOffset.reset() }
  }

  /// When the moment of `timestamp` is, here; nil before the track's first packet.
  public func time(_ ssrc: SSRC, timestamp: UInt32) -> MediaTime? {
    index(of: ssrc).flatMap { tracks[$0].time(of: timestamp) }
  }

  /// True once the track is placed by sender reports.
  public func isSynchronised(_ ssrc: SSRC) -> Bool { index(of: ssrc).map { tracks[$0].hasReport } ?? false }

  private func index(of ssrc: SSRC) -> Int? { tracks.firstIndex { $0.ssrc == ssrc } }
}
