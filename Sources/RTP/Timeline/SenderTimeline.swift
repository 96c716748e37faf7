public import MediaCore

/// Puts the tracks of one participant on the local time line: an RTP timestamp becomes the `MediaTime` at which that
/// moment would be seen and heard here if the network had only its least delay.
///
/// Before sender reports come, each track is placed by the arrival of its packets. A report says what its timestamps
/// are on the sender's wall clock (RFC 3550, 6.4.1); tracks that have one share a single offset between that clock and
/// ours, and are then as much in step as the sender says. Placements move by at most 2 % of the time that passes, those
/// of video that is out of step by 20 %, and in its first second by half, so that time never runs backwards within a
/// track, except where a mapping was grossly wrong, and in the first second of audio.
///
/// Pure. Tracks have whatever names their owner gives them; what is said of an unknown one is ignored.
public struct SenderTimeline: Sendable {
  private var tracks: [TrackTimeline] = []
  /// Ours minus the sender's wall clock, by what audio says and by what video does.
  private var wallOffsets = (audio: OffsetFilter(), video: OffsetFilter())
  /// All wall-clock times are taken relative to the first report, which keeps them small.
  private var epoch: NTPTime?

  /// Without tracks.
  public init() {}

  /// Adds a track, or begins it anew.
  public mutating func addTrack(_ id: String, clockRate: UInt32, isVideo: Bool = false) {
    removeTrack(id)
    tracks.append(TrackTimeline(id: id, clockRate: clockRate, isVideo: isVideo))
  }

  /// Forgets a track; what the others have learnt of the sender's clock stays.
  public mutating func removeTrack(_ id: String) { tracks.removeAll { $0.id == id } }

  /// Notes a packet as it arrives: each one, or at least the first of each frame.
  public mutating func observe(_ id: String, timestamp: UInt32, at arrival: MediaTime) {
    guard let index = index(of: id) else { return }
    tracks[index].note(timestamp, at: arrival)
    if !tracks[index].suspectsPause, let sent = tracks[index].wallTime(of: timestamp) {
      let offset = arrival.nanoseconds &- sent
      if tracks[index].isVideo {
        wallOffsets.video.insert(offset, at: arrival)
      } else {
        wallOffsets.audio.insert(offset, at: arrival)
      }
    }
    tracks[index].steer(wallOffset: wallOffset(at: arrival), at: arrival)
  }

  /// Audio is made in no time, so that its reports are right; those of video may say that it was captured later than it was,
  /// which would look as if the network were quicker than it is.
  private func wallOffset(at time: MediaTime) -> Int64? {
    wallOffsets.audio.least(at: time) ?? wallOffsets.video.least ?? wallOffsets.audio.least
  }

  private mutating func forgetWallOffsets() {
    wallOffsets.audio.reset()
    wallOffsets.video.reset()
  }

  /// Notes a sender report: `timestamp` of the track is `ntp` on the sender's wall clock.
  public mutating func observe(_ id: String, report ntp: NTPTime, timestamp: UInt32) {
    guard let index = index(of: id) else { return }
    let epoch = epoch ?? ntp
    self.epoch = epoch
    switch tracks[index].note(report: ntp.since(epoch).nanoseconds, timestamp: timestamp) {
    case .steady: break
    case .corrected: if tracks[index].isVideo { wallOffsets.video.reset() } else { wallOffsets.audio.reset() }
    case .clockSet:
      forgetWallOffsets()
      for other in tracks.indices where other != index { tracks[other].forgetReports() }
    }
  }

  /// When the moment of `timestamp` is, here; nil before the track's first packet.
  public func time(_ id: String, of timestamp: UInt32) -> MediaTime? {
    index(of: id).flatMap { tracks[$0].time(of: timestamp) }
  }

  /// Whether it is not known yet where the audio belongs that came last: its sender may have sent nothing for a while
  /// and not counted that. Within half a second it is known, and `time(_:of:)` is right for all that came since.
  public mutating func awaitsPlace(_ id: String, at time: MediaTime) -> Bool {
    index(of: id).map { tracks[$0].awaitsPlace(at: time) } ?? false
  }

  /// When the moment of `timestamp` was on the sender's wall clock; nil before the track's first report.
  public func wallTime(_ id: String, of timestamp: UInt32) -> NTPTime? {
    guard let epoch, let index = index(of: id), let wall = tracks[index].wallTime(of: timestamp) else { return nil }
    return epoch.advanced(by: .nanoseconds(wall))
  }

  private func index(of id: String) -> Int? { tracks.firstIndex { $0.id == id } }
}
