public import MediaCore

/// Where the RTP timestamps of one participant's tracks lie on our clock.
///
/// A track's own arrivals place it at first: the packet that came with the least delay counts, and a slow leak follows
/// the drift between both clocks. Sender reports then say how the tracks lie to each other (RFC 3550, 6.4.1), and all
/// move, slowly, onto one common offset. Only a mapping that is grossly wrong jumps.
public struct SenderTimeline: Sendable {
  private struct Track {
    var nanosecondsPerTick: Double
    var unwrapper = TimestampUnwrapper()
    /// Our time minus media time, by arrivals.
    var arrival: Int64?
    var lastObserved: MediaTime?
    /// Sender's wall clock minus media time, by reports.
    var wallClock: Int64?
    /// The offset in use.
    var offset: Int64 = 0

    func mediaTime(_ extended: Int64) -> Int64 { Int64(Double(extended) * nanosecondsPerTick) }
  }

  private var tracks: [String: Track] = [:]

  /// Two crystals differ by less than 100 ppm.
  private static let leak = 1e-4
  private static let slewPerPacket: Int64 = 200_000
  private static let jumpLimit: Int64 = 500_000_000

  public init() {}

  public mutating func addTrack(_ id: String, clockRate: UInt32) {
    if tracks[id] == nil { tracks[id] = Track(nanosecondsPerTick: 1e9 / Double(max(1, clockRate))) }
  }

  public mutating func removeTrack(_ id: String) { tracks[id] = nil }

  /// Notes that a packet of the track arrived.
  public mutating func observe(_ id: String, timestamp: UInt32, at time: MediaTime) {
    guard var track = tracks[id] else { return }
    let measured = time.nanoseconds - track.mediaTime(track.unwrapper.unwrap(timestamp))
    if let known = track.arrival, let last = track.lastObserved, abs(measured - known) < Self.jumpLimit {
      let allowance = Int64(Double((time - last).nanoseconds) * Self.leak)
      track.arrival = min(measured, known + allowance)
    } else {
      track.arrival = measured
      track.wallClock = nil
      track.offset = measured
    }
    track.lastObserved = time
    tracks[id] = track
    settle(id)
  }

  /// Notes a sender report of the track.
  public mutating func observe(_ id: String, report ntp: NTPTime, timestamp: UInt32) {
    guard var track = tracks[id], let extended = track.unwrapper.peek(timestamp) else { return }
    track.wallClock = ntp.nanoseconds &- track.mediaTime(extended)
    tracks[id] = track
  }

  /// Our time of an RTP timestamp; nil before the track's first packet.
  public func time(_ id: String, of timestamp: UInt32) -> MediaTime? {
    guard let track = tracks[id], track.arrival != nil, let extended = track.unwrapper.peek(timestamp) else {
      return nil
    }
    return MediaTime(nanoseconds: track.mediaTime(extended) + track.offset)
  }

  /// Moves the offset in use a step towards where it should be.
  private mutating func settle(_ id: String) {
    guard var track = tracks[id], let arrival = track.arrival else { return }
    let target = track.wallClock.flatMap { wall in common.map { wall &+ $0 } } ?? arrival
    let difference = target &- track.offset
    if abs(difference) > Self.jumpLimit {
      track.offset = target
    } else {
      track.offset += min(max(difference, -Self.slewPerPacket), Self.slewPerPacket)
    }
    tracks[id] = track
  }

  /// Our time minus the sender's wall clock, by the track that comes with the least delay.
  private var common: Int64? {
    tracks.values.compactMap { track in
      track.arrival.flatMap { arrival in track.wallClock.map { arrival &- $0 } }
    }.min()
  }
}
