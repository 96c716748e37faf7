import MediaCore
import RTP
import Testing

@testable import MediaBridge

/// One track, and the link that it comes over, in virtual time: second after second.
private struct ModelledLink {
  /// Kilobits a second that pass; audio takes some, and what the frames take beyond the rest is lost.
  var capacity: Double
  private static let audio = 50.0
  private static let layers: [VideoRestriction: Double] = [.none: 1000, .lowestLayer: 150, .noVideo: 0]

  let isSimulcast: Bool
  private(set) var fallback = AudioFallback()
  private(set) var changes: [(second: Int, restriction: VideoRestriction)] = []
  private var losses = LossWindow()
  private var audio = LossWindow()
  private var count = LossWindow.Count(delivered: 0, lost: 0)
  private var audioCount = LossWindow.Count(delivered: 0, lost: 0)
  private(set) var second = 0

  init(capacity: Double, isSimulcast: Bool) { (self.capacity, self.isSimulcast) = (capacity, isSimulcast) }

  private var time: MediaTime { MediaTime(nanoseconds: Int64(second) * 1_000_000_000) }
  private var frames: Double { Self.layers[fallback.restriction] ?? 0 }
  private var loss: Double { max(0, 1 - capacity / (Self.audio + frames)) }

  mutating func run(seconds: Int) { for _ in 0..<seconds { step() } }

  private mutating func step() {
    second += 1
    let packets = Int(frames / 8)
    let lost = Int((Double(packets) * loss).rounded())
    (count.delivered, count.lost) = (count.delivered + packets - lost, count.lost + lost)
    let lostAudio = Int((50 * loss).rounded())
    (audioCount.delivered, audioCount.lost) = (audioCount.delivered + 50 - lostAudio, audioCount.lost + lostAudio)
    losses.add(count, at: time)
    audio.add(audioCount, at: time)
    let observation = AudioFallback.Observation(
      loss: losses.loss, hasLowerLayer: isSimulcast, isRestWell: audio.loss ?? 0 < AudioFallback.heavyLoss)
    guard fallback.poll(observation, at: time) else { return }
    losses.restart()
    changes.append((second, fallback.restriction))
  }
}

@Suite struct AudioFallbackTests {
  @Test func nothingChangesOnALinkThatIsWideEnough() {
    var link = ModelledLink(capacity: 5000, isSimulcast: true)
    link.run(seconds: 3600)
    #expect(link.changes.isEmpty)
  }

  @Test func framesAreGivenUpOnceItLastsAndComeBackWithTheLink() {
    var link = ModelledLink(capacity: 5000, isSimulcast: false)
    link.run(seconds: 60)
    link.capacity = 200
    link.run(seconds: 60)
    #expect(link.changes.first.map { (65...69).contains($0.second) && $0.restriction == .noVideo } == true)
    #expect(link.fallback.restriction == .noVideo || link.fallback.isTrying(at: .init(nanoseconds: 120_000_000_000)))
    link.capacity = 5000
    let before = link.changes.count
    link.run(seconds: 60)
    #expect(link.fallback.restriction == .none)
    #expect(link.changes.count - before <= 1)
  }

  @Test func aMomentIsNoCongestion() {
    var link = ModelledLink(capacity: 5000, isSimulcast: true)
    for _ in 0..<60 {
      link.capacity = 200
      link.run(seconds: 2)
      link.capacity = 5000
      link.run(seconds: 20)
    }
    #expect(link.changes.isEmpty)
  }

  /// The smallest layer has its place: what is more is tried at times that grow apart, and nothing is ever given up.
  @Test func theSmallestLayerIsAskedForFirst() {
    var link = ModelledLink(capacity: 400, isSimulcast: true)
    link.run(seconds: 3600)
    #expect(link.changes.allSatisfy { $0.restriction != .noVideo })
    let tries = link.changes.filter { $0.restriction == .none }.map(\.second)
    let gaps = zip(tries, tries.dropFirst()).map { $1 - $0 }
    #expect(gaps == gaps.sorted() && gaps.first.map { $0 < 40 } == true && gaps.last.map { $0 > 120 } == true)
    #expect(tries.count < 40)
  }

  @Test func withoutRoomForAnyLayerItIsTriedLessAndLess() {
    var link = ModelledLink(capacity: 100, isSimulcast: true)
    link.run(seconds: 3600)
    #expect(link.changes.prefix(2).map(\.restriction) == [.lowestLayer, .noVideo])
    let tries = link.changes.dropFirst(2).filter { $0.restriction == .lowestLayer }.map(\.second)
    let gaps = zip(tries, tries.dropFirst()).map { $1 - $0 }
    #expect(gaps == gaps.sorted() && gaps.last.map { $0 > 120 } == true && tries.count < 40)
    // Never more than the smallest layer where that one does not even come.
    #expect(!link.changes.contains { $0.restriction == .none })
    // Each try is short.
    let lengths = zip(link.changes.dropFirst(2), link.changes.dropFirst(3)).filter { $0.0.restriction == .lowestLayer }
      .map { $1.second - $0.second }
    #expect(lengths.allSatisfy { $0 <= 6 })
    // The longest wait after the link is wide again, and the time that the first try takes to be trusted.
    link.capacity = 5000
    link.run(seconds: 160)
    #expect(link.fallback.restriction == .none)
  }

  @Test func aTryThatHoldsMakesTheNextWaitShort() {
    var link = ModelledLink(capacity: 100, isSimulcast: false)
    link.run(seconds: 600)
    link.capacity = 5000
    link.run(seconds: 300)
    #expect(link.fallback.restriction == .none)
    link.capacity = 100
    link.run(seconds: 10)
    #expect(link.fallback.restriction == .noVideo)
    let start = link.second
    link.capacity = 5000
    link.run(seconds: 20)
    #expect(link.fallback.restriction == .none, "after \(link.changes.last?.second ?? 0 - start) s")
  }

  @Test func whileTheAudioIsPoorNothingIsTried() {
    var fallback = AudioFallback()
    func time(_ second: Int) -> MediaTime { MediaTime(nanoseconds: Int64(second) * 1_000_000_000) }
    for second in 0...5 {
      _ = fallback.poll(.init(loss: 0.5, hasLowerLayer: false, isRestWell: false), at: time(second))
    }
    #expect(fallback.restriction == .noVideo)
    for second in 6...600 {
      let isNews = fallback.poll(
        .init(loss: nil, hasLowerLayer: false, isRestWell: second % 7 > 0), at: time(second))
      #expect(!isNews)
    }
  }

  // MARK: A decoder that is too slow

  /// It is too slow for what it gets, the smallest layer excepted, until the machine has time again.
  private struct ModelledDecoder {
    let isSimulcast: Bool
    var isBusy = true
    private(set) var fallback = AudioFallback()
    private(set) var changes: [(second: Int, restriction: VideoRestriction)] = []
    private var decoding = LossWindow(fewest: 10)
    private var count = LossWindow.Count(delivered: 0, lost: 0)
    private var second = 0

    init(isSimulcast: Bool) { self.isSimulcast = isSimulcast }

    mutating func run(seconds: Int) {
      for _ in 0..<seconds {
        second += 1
        let time = MediaTime(nanoseconds: Int64(second) * 1_000_000_000)
        let frames = fallback.restriction == .noVideo ? 0 : 25
        let late = isBusy && fallback.restriction == .none ? frames * 2 / 5 : 0
        (count.delivered, count.lost) = (count.delivered + frames - late, count.lost + late)
        decoding.add(count, at: time)
        let observation = AudioFallback.Observation(
          loss: 0, undecoded: decoding.loss, hasLowerLayer: isSimulcast && fallback.restriction == .none,
          isRestWell: true)
        guard fallback.poll(observation, at: time) else { continue }
        decoding.restart()
        changes.append((second, fallback.restriction))
      }
    }
  }

  @Test(arguments: [(true, VideoRestriction.lowestLayer), (false, .noVideo)])
  func aDecoderThatFallsBehindGetsLess(isSimulcast: Bool, restriction: VideoRestriction) {
    var decoder = ModelledDecoder(isSimulcast: isSimulcast)
    decoder.run(seconds: 1200)
    #expect(decoder.changes.first.map { (6...9).contains($0.second) && $0.restriction == restriction } == true)
    // It goes back and forth between two, more and more seldom.
    #expect(Set(decoder.changes.map(\.restriction)) == [restriction, .none])
    let tries = decoder.changes.filter { $0.restriction == .none }.map(\.second)
    let gaps = zip(tries, tries.dropFirst()).map { $1 - $0 }
    #expect(gaps == gaps.sorted() && gaps.last.map { $0 > 120 } == true && tries.count < 20)
    decoder.isBusy = false
    decoder.run(seconds: 160)
    #expect(decoder.fallback.restriction == .none)
  }

  @Test func aMomentInWhichTheMachineIsBusyChangesNothing() {
    var decoder = ModelledDecoder(isSimulcast: true)
    for _ in 0..<20 {
      decoder.isBusy = true
      decoder.run(seconds: 3)
      decoder.isBusy = false
      decoder.run(seconds: 10)
    }
    #expect(decoder.changes.isEmpty)
  }

  // MARK: Loss

  private func time(_ second: Double) -> MediaTime { MediaTime(nanoseconds: Int64(second * 1e9)) }

  @Test func lossIsOfTheLastSecondsAndOfWhatWasNotRepaired() {
    var window = LossWindow()
    var statistics = RTPReceiver.Statistics()
    for second in 0..<10 {
      window.add(LossWindow.Count(statistics), at: time(Double(second)))
      statistics.packetsReceived += 80
      statistics.packetsLost += 60
      statistics.packetsRecovered += second < 5 ? 60 : 40
      #expect(window.lossBeforeRepair.map { $0 >= 0.6 && $0 <= 0.75 } ?? (second < 2))
      #expect(window.loss == (second < 2 ? nil : second < 6 ? 0 : second == 6 ? 1.0 / 9 : 0.2))
    }
  }

  @Test func ofFewPacketsOrAStreamThatCountsAnewNothingIsSaid() {
    var window = LossWindow()
    for second in 0..<6 { window.add(.init(delivered: second, lost: second), at: time(Double(second))) }
    #expect(window.loss == nil)
    for second in 6..<12 { window.add(.init(delivered: second * 100, lost: 5), at: time(Double(second))) }
    #expect(window.loss != nil)
    window.add(.init(delivered: 10, lost: 0), at: time(12))
    #expect(window.loss == nil)
  }
}
