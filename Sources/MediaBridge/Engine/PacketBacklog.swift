import MediaCore
import RTP

/// What came since the newest keyframe began, or the newest audio, until there is a pipeline: so that nothing is lost
/// while an output is made, and the first frame does not have to wait for another keyframe.
///
/// It is a `KeptGroup` in packets, whose keyframes come in parts and in any order, and goes back further.
struct PacketBacklog {
  static let videoLimit = 1500
  private static let audioLimit = 300
  private static let staleness = Duration.seconds(1)
  /// What an output takes from the first packet on to be made. Whoever comes later wants what is now.
  private static let longest = Duration.seconds(4)
  /// What a lost packet, among them a keyframe's first one, may take to come again.
  private static let repair = Duration.milliseconds(300)

  /// By how much what belongs behind a keyframe's beginning may have overtaken it, in ticks of the RTP clock.
  private static let overtaking: UInt32 = 90_000

  private let isVideo: Bool
  /// As they came, but for a keyframe's beginning, which is the first.
  private(set) var packets: [(packet: RTPPacket, beginsAnew: Bool, time: MediaTime)] = []

  init(isVideo: Bool) { self.isVideo = isVideo }

  /// - Parameter beginsAnew: whether it begins a keyframe, or is audio.
  mutating func add(_ packet: RTPPacket, beginsAnew: Bool, at time: MediaTime) {
    dropOld(at: time)
    if isVideo {
      // What comes again from before the keyframe is of no use.
      guard !isBeforeKeyframe(packet) else { return }
      if packets.count == Self.videoLimit { packets.removeAll() }
      if beginsAnew {
        packets.removeAll { $0.packet.timestamp &- packet.timestamp >= Self.overtaking }
        return packets.insert((packet.fitting, beginsAnew, time), at: 0)
      }
    } else if packets.count == Self.audioLimit {
      // Many at once: each time all others move up.
      packets.removeFirst(Self.audioLimit / 2)
    }
    packets.append((packet.fitting, beginsAnew, time))
  }

  /// Drops what nobody is given any more, many at once: each time all others move up. Of video what has just come
  /// stays, since a keyframe may have begun with it; what goes on behind a dropped keyframe is of no use.
  mutating func dropOld(at time: MediaTime) {
    guard let first = packets.first else { return }
    let age = time - first.time
    guard age > Self.repair * 2, age > longestKept else { return }
    let limit = time - (isVideo ? Self.repair : Self.longest)
    packets.removeAll { $0.time < limit }
  }

  private var longestKept: Duration {
    guard isVideo else { return Self.longest + Self.staleness }
    return isUsable ? Self.longest : Self.repair * 2
  }

  private func isBeforeKeyframe(_ packet: RTPPacket) -> Bool {
    guard let first = packets.first, first.beginsAnew else { return false }
    return first.packet.timestamp &- packet.timestamp &- 1 < Self.overtaking
  }

  /// The timestamps of the whole frames with which a decoder would begin.
  var frames: [UInt32] { isUsable ? packets.map(\.packet).filter(\.endsFrame).map(\.timestamp) : [] }

  /// - Returns: what a pipeline begins with, in order, after which nothing is left; empty when that would be no beginning.
  mutating func take(at time: MediaTime) -> [ArrivedPacket] {
    defer { packets = [] }
    // What came before a pause is not what is seen or heard now.
    guard isUsable, let newest = packets.last, time - newest.time <= Self.staleness else { return [] }
    let isRecent = { time - $0 <= Self.longest }
    guard !isVideo || isRecent(packets[0].time) else { return [] }
    let first = packets[0].packet.sequenceNumber
    return packets.filter { isRecent($0.time) }.map { ArrivedPacket($0.packet, at: $0.time) }
      .sorted { $0.packet.sequenceNumber.distance(from: first) < $1.packet.sequenceNumber.distance(from: first) }
  }

  /// A keyframe's own beginning may be behind a delimiter in a packet of its own.
  private var isUsable: Bool {
    guard let first = packets.first?.packet.timestamp else { return false }
    return packets.contains { $0.beginsAnew && $0.packet.timestamp == first }
  }
}

extension RTPPacket {
  /// The same in memory of its size, where the socket's is much too large for it: what is kept is kept by many tracks.
  var fitting: RTPPacket { count + PacketBuffer.trailer < buffer.capacity / 2 ? copy() : self }

  var endsFrame: Bool { marker && !isPaddingOnly }
}
