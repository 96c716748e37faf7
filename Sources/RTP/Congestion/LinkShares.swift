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
  /// What has just begun is to blame where the estimate goes down within this time.
  private static let trial = Duration.seconds(5)
  /// So far above what is given an estimate says that more is worth a try.
  private static let plenty = 1.25

  /// What each stream gets, in bits a second of payload; those that are not here are paused.
  public private(set) var bitrates: [SSRC: Int] = [:]
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
  }

  /// Nothing is given yet.
  public init() {}

  /// Gives each stream its share anew. To be called whenever the estimate or the streams change, and some times a second.
  /// - Parameter streams: the order counts among those of one rank.
  public mutating func divide(_ estimate: LinkEstimate, among streams: [Stream], at time: MediaTime) {
    let isLowered = estimate.decreases != decreases
    decreases = estimate.decreases
    if isLowered { gaveWay(at: time) }
    guard estimate.limit != .none else {
      return give(Dictionary(streams.map { ($0.ssrc, $0.bitrates.upperBound) }) { $1 }, streams, at: time)
    }
    var division = Division(streams: streams.enumerated().sorted(by: Self.isBefore).map(\.element))
    if estimate.loss >= Self.audibleLoss { division.keepRedundancy() }
    // What has fitted so far is not taken away before the estimate goes down.
    let fitting = isLowered ? 0 : division.cost(of: bitrates)
    let mayClimb = mayClimb(streams, at: time)
    let staying = mayClimb ? staying(division, estimate) : paused
    division.begin(within: max(estimate.bitrate, fitting), without: staying)
    if !isLowered, staying == paused, mayClimb, division.isPlenty(estimate) { division.beginNext() }
    give(division.bitrates, streams, at: time)
  }

  private static func isBefore(
    _ first: (offset: Int, element: Stream), _ second: (offset: Int, element: Stream)
  ) -> Bool {
    (first.element.rank ?? -1, first.offset) < (second.element.rank ?? -1, second.offset)
  }

  /// Those that are paused and stay so: all but the first one where there is room for it.
  private func staying(_ division: Division, _ estimate: LinkEstimate) -> Set<SSRC> {
    var staying = paused
    guard let first = division.streams.first(where: { paused.contains($0.ssrc) }) else { return staying }
    let before = division.streams.prefix { $0.ssrc != first.ssrc }
    let needed = before.reduce(0) { $0 + $1.cost($1.bitrates.lowerBound) }
    let least = Double(first.cost(first.bitrates.lowerBound)) * Self.margin
    if Double(estimate.bitrate - needed) >= least { staying.remove(first.ssrc) }
    return staying
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
    climb.lowered = time
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

    /// Whether what is sent gets all it wants, and more may fit: what it is worth is seen only by sending it.
    func isPlenty(_ estimate: LinkEstimate) -> Bool {
      streams.allSatisfy { bitrates[$0.ssrc].map { [most = $0.bitrates.upperBound] in $0 >= most * 98 / 100 } ?? true }
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
