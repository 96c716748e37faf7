public import MediaCore

/// Divides what the link carries among the streams of this process. Pure.
///
/// Audio comes first, then the smallest layer of each video track, then the next ones. What does not fit is paused; what is
/// left goes to the layers that are sent, from the smallest on, so that the largest one of them gives way.
public struct LinkShares: Sendable {
  /// A stream that somebody wants.
  public struct Stream: Sendable, Equatable {
    /// Of the stream.
    public var ssrc: SSRC
    /// Nil for audio; else the place of the layer in its track, from the smallest on.
    public var rank: Int?
    /// Bits a second of payload; one value where the encoder cannot change it. Audio has the least or the most of them:
    /// alone, or with its redundancy, which it keeps while packets get lost.
    public var bitrates: ClosedRange<Int>

    /// - Parameter rank: nil for audio.
    public init(ssrc: SSRC, rank: Int?, bitrates: ClosedRange<Int>) {
      (self.ssrc, self.rank, self.bitrates) = (ssrc, rank, bitrates)
    }
  }

  /// A layer comes back only where there is some room more than the least of it needs.
  private static let margin = 1.15
  /// From one layer that begins to the next one, and after one that was too much.
  private static let pause = Duration.seconds(2)
  private static let longestPause = Duration.seconds(60)
  /// The same while no layer of video is sent, so that a trial costs nobody a frame.
  private static let longestBlindness = Duration.seconds(4)
  /// From this share of lost packets on what audio repeats is heard.
  private static let audibleLoss = 0.02
  /// From one probe to the next one, and how much more than needed it is of. It is at most of twice the estimate, in steps
  /// up to what is needed: what is too much waits in a queue on the way, and all else behind it.
  private static let longestProbePause = Duration.seconds(15)
  private static let (probed, steepest) = (1.1, 2)
  /// So much more than needed has to pass: a layer begins with a keyframe, and no link carries the same at all times.
  private static let headroom = 1.25
  /// So long what has passed is believed to pass still.
  private static let memory = Duration.seconds(2)
  /// What has just begun is to blame where the estimate goes down within this time.
  private static let trial = Duration.seconds(5)
  /// So far above what is given an estimate says that more is worth a try.
  private static let plenty = 1.25

  /// What each stream gets, in bits a second of payload; those that are not here are paused.
  public private(set) var bitrates: [SSRC: Int] = [:]
  /// Bits a second on the link that a probe is to try before the next layer begins; nil where nothing is to be found out.
  public private(set) var probe: Int?
  private var paused: Set<SSRC> = []
  private var decreases = 0
  private var climb = Climb()

  private struct Climb: Sendable {
    /// Doubles with each layer that was too much.
    var wait = LinkShares.pause
    var newest: MediaTime?
    var notBefore: MediaTime?
    /// When the estimate went down last.
    var lowered: MediaTime?
    /// How many probes are known, and what passed with the newest one.
    var probes = 0
    var passed: (bitrate: Int, time: MediaTime)?
  }

  /// Nothing is given yet.
  public init() {}

  /// Whether a stream has a share, or is paused.
  public func knows(_ ssrc: SSRC) -> Bool { bitrates[ssrc] != nil || paused.contains(ssrc) }

  /// Gives each stream its share anew. To be called whenever the estimate or the streams change, and some times a second.
  /// - Parameter streams: the order counts among those of one rank.
  public mutating func divide(_ estimate: LinkEstimate, among streams: [Stream], at time: MediaTime) {
    let isLowered = estimate.decreases != decreases
    decreases = estimate.decreases
    if isLowered { gaveWay(at: time) }
    guard estimate.limit != .none else {
      probe = nil
      return give(Dictionary(streams.map { ($0.ssrc, $0.bitrates.upperBound) }) { $1 }, streams, at: time)
    }
    var division = Division(streams: streams.enumerated().sorted(by: Self.isBefore).map(\.element))
    if estimate.loss >= Self.audibleLoss { division.keepRedundancy() }
    note(estimate.probes, at: time)
    let next = mayClimb(streams, at: time) ? division.next(of: paused) : nil
    let isKnown = next.map { isProven($0, division, estimate, at: time) } ?? false
    let hasRoom = next.map { estimate.bitrate >= $0.needed } ?? false
    var staying = paused
    if let next, hasRoom, isKnown { staying.remove(next.ssrc) }
    // What has fitted so far is not taken away before the estimate goes down.
    let fitting = isLowered ? 0 : division.cost(of: bitrates)
    division.begin(within: max(estimate.bitrate, fitting), without: staying)
    let isPlenty = next != nil && staying == paused && !isLowered && division.isPlenty(estimate)
    if isPlenty, isKnown { division.beginNext() }
    probe = !isKnown && (hasRoom || isPlenty) ? next.map { Self.probe(for: $0, estimate) } : nil
    give(division.bitrates, streams, at: time)
  }

  private static func isBefore(
    _ first: (offset: Int, element: Stream), _ second: (offset: Int, element: Stream)
  ) -> Bool {
    (first.element.rank ?? -1, first.offset) < (second.element.rank ?? -1, second.offset)
  }

  /// Whether the next layer may begin: an estimate that grows is worth less than what has passed. Where probes tell nothing,
  /// and where no video is sent that padding could go with, only the layer itself can tell.
  private func isProven(
    _ next: Division.Next, _ division: Division, _ estimate: LinkEstimate, at time: MediaTime
  ) -> Bool {
    guard estimate.probes != nil, division.hasVideo(in: bitrates) else { return true }
    if division.cost(of: bitrates) >= next.proof { return true }
    return climb.passed.map { $0.bitrate >= next.proof && time - $0.time < Self.memory } ?? false
  }

  private static func probe(for next: Division.Next, _ estimate: LinkEstimate) -> Int {
    min(Int(Double(next.proof) * probed), estimate.bitrate * steepest)
  }

  private mutating func note(_ probes: LinkEstimate.Probes?, at time: MediaTime) {
    guard let probes, probes.count != climb.probes else { return }
    (climb.probes, climb.passed) = (probes.count, (probes.passed, time))
    guard let probe, Double(probes.passed) * Self.probed < Double(probe) else { return }
    if climb.wait < Self.longestProbePause { climb.wait = min(climb.wait * 2, Self.longestProbePause) }
    climb.notBefore = max(time + climb.wait, climb.notBefore ?? time)
  }

  private func mayClimb(_ streams: [Stream], at time: MediaTime) -> Bool {
    guard let notBefore = climb.notBefore else { return true }
    guard isBlind(streams), let lowered = climb.lowered else { return time >= notBefore }
    return time >= min(notBefore, lowered + Self.longestBlindness)
  }

  /// Whether no layer of video is sent though one is wanted that begins with little.
  private func isBlind(_ streams: [Stream]) -> Bool {
    let video = streams.filter { $0.rank != nil }
    return video.allSatisfy { bitrates[$0.ssrc] == nil }
      && video.contains { $0.bitrates.lowerBound < $0.bitrates.upperBound }
  }

  private mutating func gaveWay(at time: MediaTime) {
    // What is too much is told several times.
    if let newest = climb.newest {
      climb.wait = time - newest < Self.trial ? min(climb.wait * 2, Self.longestPause) : Self.pause
      climb.newest = nil
    }
    climb.notBefore = max(time + climb.wait, climb.notBefore ?? time)
    (climb.lowered, climb.passed) = (time, nil)
  }

  private mutating func give(_ new: [SSRC: Int], _ streams: [Stream], at time: MediaTime) {
    if paused.contains(where: { new[$0] != nil }) { (climb.newest, climb.notBefore) = (time, time + Self.pause) }
    paused = Set(streams.lazy.map(\.ssrc).filter { new[$0] == nil })
    bitrates = new
  }

  /// One division under way.
  private struct Division {
    /// The most important one first.
    private(set) var streams: [Stream]
    var bitrates: [SSRC: Int] = [:]
    private var given = 0

    init(streams: [Stream]) { self.streams = streams }

    mutating func keepRedundancy() {
      for index in streams.indices where streams[index].rank == nil {
        streams[index].bitrates = streams[index].bitrates.upperBound...streams[index].bitrates.upperBound
      }
    }

    func cost(of bitrates: [SSRC: Int]) -> Int {
      streams.reduce(0) { sum, stream in sum + (bitrates[stream.ssrc].map(stream.cost) ?? 0) }
    }

    func hasVideo(in bitrates: [SSRC: Int]) -> Bool {
      streams.contains { $0.rank != nil && bitrates[$0.ssrc] != nil }
    }

    /// A layer that may come back.
    struct Next {
      var ssrc: SSRC
      /// What it and all before it take at least, in bits a second on the link.
      var needed: Int
      /// What has to pass before that.
      var proof: Int { Int(Double(needed) * LinkShares.headroom) }
    }

    /// The first one of those that are paused.
    func next(of paused: Set<SSRC>) -> Next? {
      guard let next = streams.first(where: { paused.contains($0.ssrc) }) else { return nil }
      let before = streams.prefix { $0.ssrc != next.ssrc }.reduce(0) { $0 + $1.cost($1.bitrates.lowerBound) }
      return Next(
        ssrc: next.ssrc, needed: before + Int(Double(next.cost(next.bitrates.lowerBound)) * LinkShares.margin))
    }

    mutating func begin(within budget: Int, without staying: Set<SSRC>) {
      for stream in streams where !staying.contains(stream.ssrc) {
        let least = stream.cost(stream.bitrates.lowerBound)
        // Without audio nothing else is worth anything.
        guard stream.rank == nil || given + least <= budget else { continue }
        bitrates[stream.ssrc] = stream.bitrates.lowerBound
        given += least
      }
      for stream in streams {
        guard let least = bitrates[stream.ssrc] else { continue }
        let room = stream.bitrate(within: max(0, budget - given) + stream.cost(least))
        let (most, isStepped) = (stream.bitrates.upperBound, stream.rank == nil)
        let bitrate = isStepped && room < most ? least : min(max(room, least), most)
        bitrates[stream.ssrc] = bitrate
        given += stream.cost(bitrate) - stream.cost(least)
      }
    }

    /// Whether what is sent gets all it wants, and more may fit: what it is worth is seen only by sending it. Audio without
    /// its redundancy is none that waits for more: an estimate is never far above what is sent, and alone it sends too little
    /// to ever have room for that.
    func isPlenty(_ estimate: LinkEstimate) -> Bool {
      streams.allSatisfy { stream in
        guard stream.rank != nil, let given = bitrates[stream.ssrc] else { return true }
        return given >= stream.bitrates.upperBound * 98 / 100
      }
        && (estimate.limit == .application || Double(estimate.bitrate) >= Double(given) * LinkShares.plenty)
    }

    mutating func beginNext() {
      guard let next = streams.first(where: { bitrates[$0.ssrc] == nil }) else { return }
      bitrates[next.ssrc] = next.bitrates.lowerBound
    }
  }
}

extension LinkShares.Stream {
  /// On the link, with headers: audio has 50 packets a second, and video about as many and more with the bitrate.
  fileprivate func cost(_ bitrate: Int) -> Int { rank == nil ? bitrate + 24_000 : bitrate + bitrate / 12 + 8_000 }

  /// The payload for which there is so much room.
  fileprivate func bitrate(within cost: Int) -> Int { rank == nil ? cost - 24_000 : (cost - 8_000) / 13 * 12 }
}
