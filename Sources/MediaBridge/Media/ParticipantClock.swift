import MediaCore
import RTP

/// The timeline of one participant, written by the network's thread and read by the pipelines' threads.
final class ParticipantClock: Sendable {
  private let timeline = Locked(SenderTimeline())

  func add(_ track: String, clockRate: UInt32, isVideo: Bool) {
    timeline.withLock { $0.addTrack(track, clockRate: clockRate, isVideo: isVideo) }
  }
  func remove(_ track: String) { timeline.withLock { $0.removeTrack(track) } }

  func observe(_ track: String, timestamp: UInt32, at time: MediaTime) {
    timeline.withLock { $0.observe(track, timestamp: timestamp, at: time) }
  }
  func observe(_ track: String, _ report: SenderReport) {
    timeline.withLock { $0.observe(track, report: report.ntp, timestamp: report.rtpTimestamp) }
  }
  func time(_ track: String, of timestamp: UInt32) -> MediaTime? {
    timeline.withLock { $0.time(track, of: timestamp) }
  }
}
