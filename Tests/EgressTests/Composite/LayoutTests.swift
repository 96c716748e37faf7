import MediaCore
import MediaPipelines
import Testing

@testable import Egress

/// Geometry and order as LiveKit Egress draws them, by the figures of its style sheets.
@Suite struct LayoutTests {
  private func grid(_ count: Int, _ width: Int, _ height: Int) -> (columns: Int, rows: Int, shown: Int) {
    let places = GridLayout.places(count: count, in: PixelSize(width: width, height: height))
    return (Set(places.map(\.x)).count, Set(places.map(\.y)).count, places.count)
  }

  @Test(arguments: [
    (1, 1280, 720, 1, 1, 1), (2, 1280, 720, 2, 1, 2), (3, 1280, 720, 2, 2, 3), (5, 1280, 720, 3, 2, 5),
    (7, 1920, 1080, 3, 3, 7), (10, 1280, 720, 4, 3, 10), (17, 1280, 720, 5, 4, 17), (30, 1920, 1080, 5, 5, 25),
    (2, 1080, 1920, 1, 2, 2), (2, 1080, 1080, 1, 2, 2), (17, 1080, 1920, 4, 4, 16), (10, 720, 1280, 3, 3, 9),
    (17, 720, 1280, 3, 3, 9), (5, 640, 360, 2, 2, 4), (17, 640, 360, 2, 2, 4), (5, 480, 270, 2, 1, 2),
  ])
  func gridsHaveTheShapesOfEgress(
    _ count: Int, _ width: Int, _ height: Int, _ columns: Int, _ rows: Int, _ shown: Int
  ) {
    #expect(grid(count, width, height) == (columns, rows, shown))
  }

  @Test(arguments: 1...25) func tilesOfAGridAbutAndFillTheirRows(_ count: Int) {
    let size = PixelSize(width: 1280, height: 720)
    let places = GridLayout.places(count: count, in: size)
    for row in Dictionary(grouping: places, by: \.y).values {
      let sorted = row.sorted { $0.x < $1.x }
      #expect(sorted[0].x == 0)
      for (left, right) in zip(sorted, sorted.dropFirst()) { #expect(left.x + left.width == right.x) }
    }
    #expect(places.map { $0.y + $0.height }.max() == 720)
    #expect(places.allSatisfy { [$0.x, $0.y, $0.width, $0.height].allSatisfy { $0.isMultiple(of: 2) } })
    let widths = places.map(\.width)
    #expect((widths.max() ?? 0) - (widths.min() ?? 0) <= 2)
  }

  @Test func theSpeakerHasFiveSixths() {
    let places = SpeakerLayout.places(count: 4, in: PixelSize(width: 1920, height: 1080))
    #expect(
      places.map { [$0.x, $0.y, $0.width, $0.height] }
        == [[320, 0, 1600, 1080], [0, 0, 320, 200], [0, 200, 320, 200], [0, 400, 320, 200]])
    let full = SpeakerLayout.places(count: 20, in: PixelSize(width: 1280, height: 720))
    #expect(full.count == 7 && full[1].width == 214 && full.last.map { $0.y < 720 && $0.y + $0.height > 720 } == true)
    let narrow = SpeakerLayout.places(count: 3, in: PixelSize(width: 480, height: 270))
    #expect(
      narrow.map { [$0.x, $0.y, $0.width, $0.height] }
        == [[0, 0, 480, 226], [0, 226, 72, 44], [72, 226, 72, 44]])
  }

  private func camera(_ sid: String, speaks: Double? = nil, since: Int64? = nil, joined: Int64 = 0) -> TileTrack {
    TileTrack(
      sid: sid, source: .camera, hasShown: true,
      speaker: .init(
        joinedAt: joined, isSpeaking: speaks != nil, audioLevel: speaks ?? 0,
        lastSpokeAt: since.map { MediaTime(nanoseconds: $0) }))
  }

  private let start = MediaTime(nanoseconds: 0)
  private let size = PixelSize(width: 1280, height: 720)

  @Test func whoSpeaksIsLargeAndTheOthersFollowInTheirOrder() {
    var arranger = CompositeArranger(.speaker, size: size)
    let quiet = [camera("a", joined: 1), camera("b", joined: 2), camera("c", joined: 3)]
    #expect(arranger.places(of: quiet, at: start).map(\.sid) == ["a", "b", "c"])
    let speaking = [quiet[0], quiet[1], camera("c", speaks: 0.4, since: 5, joined: 3)]
    #expect(arranger.places(of: speaking, at: start).map(\.sid) == ["c", "a", "b"])
    // Who began to speak last stays when all fall silent.
    let silent = [quiet[0], quiet[1], camera("c", since: 5, joined: 3)]
    #expect(arranger.places(of: silent, at: start).map(\.sid) == ["c", "a", "b"])
    let loud = [quiet[0], camera("b", speaks: 0.9, since: 9, joined: 2), camera("c", speaks: 0.4, since: 5, joined: 3)]
    #expect(arranger.places(of: loud, at: start).map(\.sid).first == "b")
  }

  @Test func aSpeakerIsHeldAsLongAsIsAskedForAndAShareIsNot() {
    var arranger = CompositeArranger(.singleSpeaker, size: size, speakerHold: .seconds(2))
    let (a, b) = (camera("a", speaks: 0.2, since: 1), camera("b", speaks: 0.8, since: 2))
    #expect(arranger.places(of: [a], at: start).map(\.sid) == ["a"])
    #expect(arranger.places(of: [a, b], at: start + .seconds(1)).map(\.sid) == ["a"])
    #expect(arranger.places(of: [a, b], at: start + .seconds(2.1)).map(\.sid) == ["b"])
    let screen = TileTrack(sid: "s", source: .screenShareVideo, hasShown: true)
    #expect(arranger.places(of: [a, b, screen], at: start + .seconds(2.1)).map(\.sid) == ["s"])
    #expect(
      arranger.places(of: [a, b], at: start + .seconds(2.2)).map(\.sid) == ["b"], "a share that ends is not held")
  }

  /// Nothing is sent of those who are not seen.
  @Test func whatWasSeenStaysUntilThereIsAFrameOfWhoBecomesLarge() {
    var arranger = CompositeArranger(.singleSpeaker, size: size)
    let a = camera("a", joined: 1)
    var b = camera("b", speaks: 0.8, since: 2, joined: 2)
    #expect(arranger.places(of: [a], at: start).map(\.sid) == ["a"])
    b.hasShown = false
    let waiting = arranger.places(of: [a, b], at: start)
    #expect(waiting.map(\.sid) == ["a", "b"] && waiting.map(\.isAwaited) == [false, true])
    #expect(arranger.places(of: [b], at: start).map(\.sid) == ["b"], "who has left is not seen")
    #expect(arranger.places(of: [a], at: start).map(\.sid) == ["a"])
    b.hasShown = true
    #expect(arranger.places(of: [a, b], at: start).map(\.sid) == ["b"])
    // A share of the screen over the tiles of a grid.
    arranger.layout = .screenShare
    #expect(arranger.places(of: [a, b], at: start).count == 2)
    var screen = TileTrack(sid: "s", source: .screenShareVideo)
    let shared = arranger.places(of: [a, b, screen], at: start)
    #expect(shared.map(\.sid).last == "s" && shared.map(\.place.width) == [640, 640, 1280])
    #expect(shared.map(\.isAwaited) == [false, false, true])
    #expect(arranger.places(of: [a, b, screen], at: start + .seconds(1.9)).count == 3)
    #expect(arranger.places(of: [a, b, screen], at: start + .seconds(2)).map(\.sid) == ["s"], "it may never come")
    // What is muted has no frame to be waited for.
    #expect(arranger.places(of: [a, b], at: start + .seconds(3)).count == 2)
    screen.isMuted = true
    #expect(arranger.places(of: [a, b, screen], at: start + .seconds(3)).map(\.sid) == ["s"])
  }

  @Test func everyoneWhoBecomesLargeIsWaitedFor() {
    var arranger = CompositeArranger(.singleSpeaker, size: size)
    func speaks(_ sid: String, since: Int64, hasShown: Bool, isMuted: Bool = false) -> TileTrack {
      var track = camera(sid, speaks: 0.8, since: since, joined: since)
      (track.hasShown, track.isMuted) = (hasShown, isMuted)
      return track
    }
    func large(_ track: TileTrack, after seconds: Double) -> [PlacedTrack] {
      let tracks = ["a", "b", "c", "d"].map { $0 == track.sid ? track : camera($0) }
      return arranger.places(of: tracks, at: start + .seconds(seconds))
    }
    _ = large(speaks("a", since: 1, hasShown: true), after: 0)
    #expect(large(speaks("b", since: 2, hasShown: false), after: 1).map(\.sid) == ["a", "b"])
    #expect(large(speaks("b", since: 2, hasShown: true), after: 1.5).map(\.sid) == ["b"])
    #expect(large(speaks("c", since: 3, hasShown: false, isMuted: true), after: 5).map(\.sid) == ["c"])
    // Not as long ago as the first time.
    #expect(large(speaks("b", since: 6, hasShown: false), after: 6).map(\.sid) == ["c", "b"])
    // Who was seen before is not kept longer where others take turns.
    #expect(large(speaks("d", since: 7, hasShown: false), after: 7).map(\.sid) == ["c", "d"])
    #expect(large(speaks("b", since: 8, hasShown: false), after: 8).map(\.sid) == ["b"])
    #expect(large(speaks("b", since: 8, hasShown: false), after: 8.2).map(\.sid) == ["b"], "not once more")
  }

  /// Who speaks as soon as they have come is in the strip, as large as that, until there is a frame.
  @Test func whoIsSeenAlreadyStaysWhereTheyAreUntilThereIsAFrame() {
    var arranger = CompositeArranger(.speaker, size: size)
    let a = camera("a", joined: 1)
    var b = camera("b", joined: 2)
    b.hasShown = false
    let before = arranger.places(of: [a, b], at: start)
    #expect(before.map(\.sid) == ["a", "b"] && !before.contains(where: \.isAwaited))
    b.speaker = .init(joinedAt: 2, isSpeaking: true, audioLevel: 0.8, lastSpokeAt: start)
    #expect(arranger.places(of: [a, b], at: start) == before)
    b.hasShown = true
    #expect(arranger.places(of: [a, b], at: start).map(\.sid) == ["b", "a"])
  }

  @Test func tilesOfAGridStayWhereTheyAre() {
    var arranger = CompositeArranger(.grid, size: PixelSize(width: 640, height: 360))
    let five = (1...5).map { camera("\($0)", joined: Int64($0)) }
    #expect(arranger.places(of: five, at: start).map(\.sid) == ["1", "2", "3", "4"])
    // Who is seen and speaks does not move; who is not seen takes the place of the last.
    var talk = five
    talk[2] = camera("3", speaks: 0.5, since: 3, joined: 3)
    #expect(arranger.places(of: talk, at: start).map(\.sid) == ["1", "2", "3", "4"])
    talk[4] = camera("5", speaks: 0.5, since: 4, joined: 5)
    #expect(arranger.places(of: talk, at: start).map(\.sid) == ["1", "2", "3", "5"])
    talk.remove(at: 1)
    #expect(arranger.places(of: talk, at: start).map(\.sid) == ["1", "3", "5", "4"])
  }

  /// Placeholders are there before the camera of one of them.
  @Test func whatWasLaidOutBeforeTheRecordingIsNotItsOrder() {
    var arranger = CompositeArranger(.grid, size: size)
    var people = [camera("bob", joined: 1), camera("alice", joined: 2)]
    for index in people.indices { people[index].isMuted = true }
    #expect(arranger.places(of: people, at: start).map(\.sid) == ["bob", "alice"])
    people[1].isMuted = false
    #expect(arranger.places(of: people, at: start).map(\.sid) == ["bob", "alice"], "who is seen does not move")
    arranger.forgetOrder()
    #expect(arranger.places(of: people, at: start).map(\.sid) == ["alice", "bob"])
  }

  @Test func aLayoutThatThereIsNotIsNamed() {
    func refusal(_ metadata: String) -> String? {
      guard let name = CompositeLayout.name(inMetadata: metadata) else { return nil }
      let layout = CompositeLayout(named: name, first: .grid)
      return layout?.rawValue == name ? nil : CompositeLayout.refusal(of: name, layout).message
    }
    #expect(refusal("{}") == nil && refusal("hello") == nil && refusal(#"{"layout": "speaker"}"#) == nil)
    #expect(refusal(#"{"layout": "mosaic"}"#)?.contains("no layout is called 'mosaic'") == true)
    #expect(refusal(#"{"layout": "speaker-dark"}"#)?.contains("'speaker-dark'; it is laid out as speaker") == true)
    #expect(refusal(#"{"layout": "speaker-light"}"#) == nil)
  }

  @Test func aScreenShareMakesAGridASpeakerViewAndIsNotCut() {
    var arranger = CompositeArranger(.grid, size: size)
    let cameras = [camera("a", joined: 1), camera("b", joined: 2)]
    #expect(arranger.places(of: cameras, at: start).map(\.place.fit) == [.cover, .cover])
    let screen = TileTrack(sid: "s", source: .screenShareVideo, hasShown: true)
    let shared = arranger.places(of: cameras + [screen], at: start)
    #expect(shared.map(\.sid) == ["s", "a", "b"] && shared[0].place.width == 1066 && shared[0].place.fit == .contain)
    arranger.layout = .screenShare
    #expect(arranger.places(of: cameras + [screen], at: start).map(\.place.width) == [1280])
    #expect(arranger.places(of: cameras, at: start).map(\.place.width) == [640, 640])
    #expect(arranger.places(of: [], at: start).isEmpty)
  }
}
