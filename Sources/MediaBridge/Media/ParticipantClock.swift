import MediaCore
import RTP

/// The timeline of one participant, written by the network's thread and read by the pipelines' threads.
final class ParticipantClock: Sendable {
  private struct State {
    var timeline = SenderTimeline()
    /// By track.
    var origins: [String: TimestampLog] = [:]
  }
  private let state = Locked(State())

  func add(_ track: String, clockRate: UInt32, isVideo: Bool) {
    state.withLock { state in
      state.timeline.addTrack(track, clockRate: clockRate, isVideo: isVideo)
      state.origins[track] = TimestampLog()
    }
  }
  func remove(_ track: String) {
    state.withLock { state in
      state.timeline.removeTrack(track)
      state.origins.removeValue(forKey: track)
    }
  }

  func observe(_ track: String, timestamp: UInt32, at time: MediaTime) {
    state.withLock { $0.timeline.observe(track, timestamp: timestamp, at: time) }
  }
  func observe(_ track: String, _ report: SenderReport) {
    state.withLock { $0.timeline.observe(track, report: report.ntp, timestamp: report.rtpTimestamp) }
  }
  /// Whether it is being found out where the audio belongs that came last.
  func awaitsPlace(_ track: String, at time: MediaTime) -> Bool {
    state.withLock { $0.timeline.awaitsPlace(track, at: time) }
  }
  func time(_ track: String, of timestamp: UInt32) -> MediaTime? {
    state.withLock { state in
      guard let time = state.timeline.time(track, of: timestamp) else { return nil }
      state.origins[track]?.note(timestamp, at: time)
      return time
    }
  }

  /// Of which timestamp that time is, and when that was on the sender's clock, where its reports tell it.
  /// - Returns: nil for a time that none of the last frames has.
  func origin(_ track: String, at time: MediaTime) -> (timestamp: UInt32, wall: NTPTime?)? {
    state.withLock { state in
      guard let timestamp = state.origins[track]?.timestamp(at: time) else { return nil }
      return (timestamp, state.timeline.wallTime(track, of: timestamp))
    }
  }
}

/// Which timestamps the newest times of a track were made of. Pure.
struct TimestampLog: Sendable {
  /// More frames, and packets of audio, than are on their way through a decoder and to a renderer.
  private static let most = 128
  private var entries: [(time: MediaTime, timestamp: UInt32)] = []
  private var oldest = 0

  mutating func note(_ timestamp: UInt32, at time: MediaTime) {
    // Each packet of a frame has its timestamp.
    if let newest, newest == (time, timestamp) { return }
    if entries.count < Self.most {
      entries.append((time, timestamp))
    } else {
      entries[oldest] = (time, timestamp)
      oldest = (oldest + 1) % Self.most
    }
  }

  private var newest: (time: MediaTime, timestamp: UInt32)? {
    entries.isEmpty ? nil : entries[(oldest + entries.count - 1) % entries.count]
  }

  func timestamp(at time: MediaTime) -> UInt32? { entries.last { $0.time == time }?.timestamp }
}
