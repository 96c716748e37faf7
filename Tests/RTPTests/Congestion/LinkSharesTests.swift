import MediaCore
import Testing

@testable import RTP

@Suite("Dividing a link among streams")
struct LinkSharesTests {
  private static let (audio, small, middle, large) = (SSRC(1), SSRC(2), SSRC(3), SSRC(4))
  /// A camera's three layers and its audio, in an order that is not that of importance.
  private static let streams = [
    LinkShares.Stream(ssrc: large, rank: 2, bitrates: 510_000...1_700_000),
    LinkShares.Stream(ssrc: middle, rank: 1, bitrates: 135_000...450_000),
    LinkShares.Stream(ssrc: small, rank: 0, bitrates: 48_000...160_000),
    LinkShares.Stream(ssrc: audio, rank: nil, bitrates: 128_000...128_000),
  ]

  private struct Scene {
    var shares = LinkShares()
    var decreases = 0
    var now = 1000.0
    /// Nil where none can be made.
    var probes: LinkEstimate.Probes?

    /// A probe is over.
    mutating func passed(_ bitrate: Int) {
      probes = LinkEstimate.Probes(count: (probes?.count ?? 0) + 1, passed: bitrate)
    }

    /// - Returns: what is sent.
    @discardableResult
    mutating func divide(
      _ bitrate: Int, _ limit: LinkEstimate.Limit = .network, after seconds: Double = 0.1, lowered: Bool = false,
      loss: Double = 0, among streams: [LinkShares.Stream] = LinkSharesTests.streams
    ) -> Set<SSRC> {
      now += seconds * 1000
      if lowered { decreases += 1 }
      shares.divide(
        LinkEstimate(bitrate: bitrate, limit: limit, decreases: decreases, loss: loss, probes: probes), among: streams,
        at: .ms(now))
      return Set(shares.bitrates.keys)
    }
  }

  @Test func beforeAnythingIsTooMuchEachGetsAllItWants() {
    var scene = Scene()
    #expect(scene.divide(10_000, .none) == [Self.audio, Self.small, Self.middle, Self.large])
    #expect(Self.streams.allSatisfy { scene.shares.bitrates[$0.ssrc] == $0.bitrates.upperBound })
  }

  @Test func theLargestGivesWayAndAudioStays() {
    var scene = Scene()
    scene.divide(0, .none)
    #expect(scene.divide(450_000, lowered: true) == [Self.audio, Self.small, Self.middle])
    #expect(scene.shares.bitrates[Self.audio] == 128_000)
    let middle = scene.shares.bitrates[Self.middle] ?? 0
    #expect((135_000..<450_000).contains(middle), "\(scene.shares.bitrates)")
    #expect(scene.divide(250_000, lowered: true) == [Self.audio, Self.small])
    #expect(scene.divide(30_000, lowered: true) == [Self.audio])
    #expect(scene.shares.bitrates[Self.audio] == 128_000)
  }

  /// Half of the redundancy would be of no use.
  @Test(arguments: [(3_000_000, 256_000), (450_000, 128_000), (250_000, 128_000), (30_000, 128_000)])
  func redundancyOfAudioIsThereWholeOrNotAtAll(bitrate: Int, given: Int) {
    var scene = Scene()
    scene.divide(0, .none, among: Self.redundant)
    scene.divide(bitrate, lowered: true, among: Self.redundant)
    #expect(scene.shares.bitrates[Self.audio] == given)
  }

  @Test func whilePacketsGetLostRedundancyStays() {
    var scene = Scene()
    scene.divide(0, .none, among: Self.redundant)
    scene.divide(450_000, lowered: true, loss: 0.1, among: Self.redundant)
    #expect(scene.shares.bitrates[Self.audio] == 256_000)
  }

  private static let redundant = streams.map { stream in
    stream.rank == nil ? LinkShares.Stream(ssrc: stream.ssrc, rank: nil, bitrates: 128_000...256_000) : stream
  }

  @Test(arguments: Array(stride(from: 250_000, through: 3_000_000, by: 50_000)))
  func whatIsGivenFits(bitrate: Int) {
    var scene = Scene()
    scene.divide(0, .none)
    scene.divide(bitrate, lowered: true)
    #expect(scene.shares.bitrates.values.reduce(0, +) <= bitrate)
  }

  @Test func nothingIsTakenBeforeTheEstimateGoesDown() {
    var scene = Scene()
    scene.divide(0, .none)
    scene.divide(900_000, lowered: true)
    let before = scene.shares.bitrates
    scene.divide(500_000, .application)
    #expect(scene.shares.bitrates == before)
  }

  @Test func layersComeBackOneAfterTheOther() {
    var scene = Scene()
    scene.divide(0, .none)
    scene.divide(250_000, lowered: true)
    #expect(scene.divide(3_000_000) == [Self.audio, Self.small])
    #expect(scene.divide(3_000_000, after: 2) == [Self.audio, Self.small, Self.middle])
    #expect(scene.divide(3_000_000) == [Self.audio, Self.small, Self.middle])
    #expect(scene.divide(3_000_000, after: 2).contains(Self.large))
  }

  @Test func theNextLayerIsTriedWhereNothingElseTellsWhatFits() {
    var scene = Scene()
    scene.divide(0, .none)
    scene.divide(250_000, lowered: true)
    // What is sent gets all it wants, and the estimate can go no higher for it.
    #expect(scene.divide(360_000, .application, after: 3) == [Self.audio, Self.small, Self.middle])
    #expect(scene.shares.bitrates[Self.middle] == 135_000)
    #expect(scene.divide(360_000, after: 1).contains(Self.middle))
  }

  @Test func whatWasTooMuchIsTriedLessAndLessOften() {
    var scene = Scene()
    scene.divide(0, .none)
    scene.divide(250_000, lowered: true)
    var waits: [Double] = []
    for _ in 0..<7 {
      var wait = 0.0
      while !scene.divide(360_000, .application).contains(Self.middle) { wait += 0.1 }
      waits.append(wait)
      #expect(!scene.divide(250_000, after: 1, lowered: true).contains(Self.middle))
      // The queue on the way is told of more than once.
      scene.divide(240_000, after: 0.3, lowered: true)
    }
    #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 < $1 || $0 > 59 }, "\(waits)")
    #expect((waits.last ?? 0) < 61, "\(waits)")
  }

  /// Frozen frames are worse than a trial that fails, which costs nobody a frame.
  @Test func videoThatIsNotSeenAtAllIsTriedAgainSoon() {
    var scene = Scene()
    scene.divide(0, .none)
    var trials: [Double] = []
    scene.divide(30_000, lowered: true)
    for _ in 0..<1200 {
      guard scene.divide(200_000, .application).contains(Self.small) else { continue }
      trials.append(scene.now / 1000)
      #expect(scene.divide(30_000, lowered: true) == [Self.audio])
    }
    #expect(trials.count > 20 && zip(trials.dropFirst(), trials).allSatisfy { $0 - $1 < 5 }, "\(trials)")
  }

  @Test func videoComesBackBesideAudioThatHasLostItsRedundancy() {
    let streams = [
      LinkShares.Stream(ssrc: Self.large, rank: 0, bitrates: 1_125_000...1_500_000),
      LinkShares.Stream(ssrc: Self.audio, rank: nil, bitrates: 128_000...256_000),
    ]
    var scene = Scene(probes: LinkEstimate.Probes())
    scene.divide(0, .none, among: streams)
    // One and a half of what is sent, which is the most that an estimate says.
    #expect(scene.divide(238_000, .application, lowered: true, among: streams) == [Self.audio])
    let seconds = (1...50).map { _ in scene.divide(238_000, .application, after: 0.2, among: streams) }
    #expect(seconds.contains([Self.audio, Self.large]))
  }

  @Test func whatNobodyWantsTakesNothing() {
    var scene = Scene()
    scene.divide(0, .none)
    let others = Self.streams.filter { $0.ssrc != Self.small }
    #expect(scene.divide(450_000, lowered: true, among: others) == [Self.audio, Self.middle])
  }

  @Test func theSmallestLayerOfEachTrackGoesBeforeTheNextOneOfAny() {
    var scene = Scene()
    let second = LinkShares.Stream(ssrc: SSRC(9), rank: 0, bitrates: 48_000...160_000)
    scene.divide(0, .none, among: Self.streams + [second])
    #expect(scene.divide(300_000, lowered: true, among: Self.streams + [second]) == [Self.audio, Self.small, SSRC(9)])
  }

  // MARK: Probes

  /// A trial of the layer itself would cost frames of the smaller ones.
  @Test func wherePaddingTellsNoLayerIsTried() {
    var scene = Scene(probes: LinkEstimate.Probes())
    scene.divide(0, .none)
    scene.divide(250_000, lowered: true)
    for bitrate in [360_000, 3_000_000] {
      #expect(scene.divide(bitrate, .application, after: 3) == [Self.audio, Self.small])
      // Its least, with what audio and the smallest layer have at least.
      #expect((500_000...600_000).contains(scene.shares.probe ?? 0), "\(String(describing: scene.shares.probe))")
    }
  }

  @Test func whatHasPassedComesBack() {
    var scene = Scene(probes: LinkEstimate.Probes())
    scene.divide(0, .none)
    scene.divide(250_000, lowered: true)
    scene.divide(360_000, .application, after: 3)
    scene.passed(scene.shares.probe ?? 0)
    #expect(scene.divide(450_000, .application) == [Self.audio, Self.small, Self.middle])
    #expect(scene.shares.probe == nil)
    // The next one is another matter.
    #expect(scene.divide(1_000_000, .application, after: 3) == [Self.audio, Self.small, Self.middle])
    #expect((scene.shares.probe ?? 0) > 800_000, "\(String(describing: scene.shares.probe))")
  }

  @Test func whatIsFarMoreIsProbedInSteps() {
    var scene = Scene(probes: LinkEstimate.Probes())
    let streams = Self.streams.filter { [Self.small, Self.large].contains($0.ssrc) }
    scene.divide(0, .none, among: streams)
    scene.divide(200_000, lowered: true, among: streams)
    #expect(scene.divide(200_000, .application, after: 3, among: streams) == [Self.small])
    for step in [400_000, 800_000] {
      #expect(scene.shares.probe == step)
      scene.passed(step)
      #expect(scene.divide(step, .application, among: streams) == [Self.small])
    }
    let last = scene.shares.probe ?? 0
    #expect((900_000...1_000_000).contains(last), "\(last)")
    scene.passed(last)
    #expect(scene.divide(last, .application, among: streams) == [Self.small, Self.large])
  }

  @Test func whatHasNotPassedIsProbedLessOftenUpToALimit() {
    var scene = Scene(probes: LinkEstimate.Probes())
    scene.divide(0, .none)
    scene.divide(250_000, lowered: true)
    var waits: [Double] = []
    for _ in 0..<7 {
      var wait = 0.0
      while scene.shares.probe == nil {
        #expect(scene.divide(360_000, .application) == [Self.audio, Self.small])
        wait += 0.1
      }
      waits.append(wait)
      scene.passed(300_000)
      scene.divide(360_000, .application)
      #expect(scene.shares.probe == nil)
    }
    #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 < $1 || $0 > 14 }, "\(waits)")
    #expect((waits.last ?? 0) < 16, "\(waits)")
  }

  /// Padding goes with frames.
  @Test func withoutVideoTheSmallestLayerItselfTells() {
    var scene = Scene(probes: LinkEstimate.Probes())
    scene.divide(0, .none)
    scene.divide(30_000, lowered: true)
    #expect(scene.divide(300_000, .application, after: 5) == [Self.audio, Self.small])
  }
}
