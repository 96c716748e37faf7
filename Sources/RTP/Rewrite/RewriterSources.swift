import MediaCore

/// What is known of the incoming streams: how their numbers extend, and their newest sender reports.
struct RewriterSources: Sendable {
  private struct Source {
    let ssrc: SSRC
    var newest: Int64?
    var report: SenderReport?
  }

  private let clockRate: UInt32
  private var sources: [Source] = []
  /// Three layers, and as many from before a sender chose new ones. More than the segments that are kept.
  private static let limit = 8
  /// A step that no loss explains: the stream counts anew.
  static let largestStep = 3000

  init(clockRate: UInt32) { self.clockRate = clockRate }

  /// The packet's extended number. One that counts anew goes far above all before, so that no extended number means
  /// two packets.
  mutating func extend(_ packet: RTPPacket, keeping segments: [RewriterSegment]) -> Int64 {
    let index = index(of: packet.ssrc, keeping: segments)
    let number = packet.sequenceNumber
    guard let newest = sources[index].newest else {
      sources[index].newest = Int64(number.rawValue)
      return Int64(number.rawValue)
    }
    let step = number.distance(from: SequenceNumber(UInt16(truncatingIfNeeded: newest)))
    let base = abs(step) > Self.largestStep ? newest &+ 1 << 20 : newest
    let extended = base &+ Int64(step)
    sources[index].newest = max(newest, extended)
    return extended
  }

  mutating func note(_ report: SenderReport, keeping segments: [RewriterSegment]) {
    let index = index(of: report.ssrc, keeping: segments)
    sources[index].report = report
  }

  /// The outgoing timestamp at which `packet` happened, by the sender reports of its stream and of `segment`'s.
  func timestamp(of packet: RTPPacket, continuing segment: RewriterSegment) -> UInt32? {
    guard packet.ssrc != segment.source else { return packet.timestamp &+ segment.idealOffset }
    guard let new = report(of: packet.ssrc), let old = report(of: segment.source) else { return nil }
    let between = new.ntp.since(old.ntp).seconds * Double(clockRate)
    guard abs(between) < Double(Int32.max) else { return nil }
    let sinceOld = UInt32(truncatingIfNeeded: Int64(between)) &+ (packet.timestamp &- new.rtpTimestamp)
    return old.rtpTimestamp &+ sinceOld &+ segment.idealOffset
  }

  private func report(of ssrc: SSRC) -> SenderReport? { sources.first { $0.ssrc == ssrc }?.report }

  private mutating func index(of ssrc: SSRC, keeping segments: [RewriterSegment]) -> Int {
    if let index = sources.firstIndex(where: { $0.ssrc == ssrc }) { return index }
    if sources.count == Self.limit {
      let unused = sources.firstIndex { source in !segments.contains { $0.source == source.ssrc } }
      sources.remove(at: unused ?? 0)
    }
    sources.append(Source(ssrc: ssrc))
    return sources.count - 1
  }
}
