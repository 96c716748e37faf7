import MediaCore
import MediaPipelines
import Testing

@testable import Egress

/// What is seen in a place until there is a frame of who comes there: nothing is sent of those who are not seen.
@Suite struct ChangeoverTests {
  private let start = MediaTime(nanoseconds: 0)
  private let size = PixelSize(width: 640, height: 360)

  /// - Parameter since: when they began to speak, which they do then.
  private func camera(_ sid: String, since: Int64? = nil, shown: Bool = true, muted: Bool = false) -> TileTrack {
    TileTrack(
      sid: sid, source: .camera, isMuted: muted, hasShown: shown,
      speaker: .init(
        identity: sid, isSpeaking: since != nil, audioLevel: since == nil ? 0 : 0.5,
        lastSpokeAt: since.map { MediaTime(nanoseconds: $0) }))
  }

  private func own(_ tiles: String...) throws -> CompositeArranger {
    let yaml = "tiles:\n" + tiles.map { "  - {\($0)}\n" }.joined()
    return CompositeArranger(.own(try OwnLayout(yaml: yaml, file: "own.yaml")), size: size)
  }

  private func sids(_ places: [PlacedTrack]) -> [String] { places.map { $0.isAwaited ? "(\($0.sid))" : $0.sid } }

  @Test func aTileOfWhoSpeaksIsNeverBare() throws {
    var arranger = try own("x: 0, y: 0, width: 1, height: 1, order: speaking")
    let a = camera("a")
    #expect(sids(arranger.places(of: [a], at: start)) == ["a"])
    let waiting = arranger.places(of: [a, camera("b", since: 1, shown: false)], at: start)
    #expect(sids(waiting) == ["a", "(b)"] && waiting[0].place == waiting[1].place)
    #expect(sids(arranger.places(of: [a, camera("b", since: 1)], at: start)) == ["b"])
    let muted = camera("c", since: 2, shown: false, muted: true)
    #expect(sids(arranger.places(of: [a, camera("b"), muted], at: start)) == ["c"], "no frame is to be waited for")
    let last = arranger.places(of: [camera("d", since: 3, shown: false)], at: start)
    #expect(sids(last) == ["d"], "who was seen has left")
  }

  @Test func whoSendsNothingIsNotWaitedForWithoutEnd() throws {
    var arranger = try own("x: 0, y: 0, width: 1, height: 1, order: speaking")
    func seen(_ speaker: TileTrack, after seconds: Double) -> [String] {
      let others = ["a", "b", "c"].filter { $0 != speaker.sid }.map { camera($0, shown: $0 == "a") }
      return sids(arranger.places(of: others + [speaker], at: start + .seconds(seconds)))
    }
    #expect(seen(camera("a", since: 1), after: 0) == ["a"])
    #expect(seen(camera("b", since: 2, shown: false), after: 1) == ["a", "(b)"])
    // Who was seen before is not kept longer where others take turns.
    #expect(seen(camera("c", since: 3, shown: false), after: 2) == ["a", "(c)"])
    #expect(seen(camera("c", since: 3, shown: false), after: 3) == ["c"])
    #expect(seen(camera("c", since: 3, shown: false), after: 3.2) == ["c"], "not once more")
    #expect(seen(camera("a", since: 4), after: 4) == ["a"])
    #expect(seen(camera("b", since: 5, shown: false), after: 9) == ["a", "(b)"], "not as long ago as the first time")
  }

  /// Who spoke before moves on to the tile of another one.
  @Test func theTilesThatItTakesStayAsTheyAreToo() throws {
    var arranger = try own(
      "x: 0, y: 0, width: 1/2, height: 1, source: camera, order: speaking",
      "x: 1/2, y: 0, width: 1/2, height: 1/2, source: camera",
      "x: 1/2, y: 1/2, width: 1/2, height: 1/2, source: screen")
    let before = arranger.places(of: [camera("a", since: 1), camera("b")], at: start)
    #expect(sids(before) == ["a", "b"])
    var tracks = [camera("a"), camera("b"), camera("c", since: 2, shown: false)]
    let waiting = arranger.places(of: tracks, at: start)
    #expect(Array(waiting.prefix(2)) == before && sids(waiting) == ["a", "b", "(c)"])
    tracks.append(TileTrack(sid: "s", source: .screenShareVideo))
    #expect(sids(arranger.places(of: tracks, at: start)) == ["a", "b", "s", "(c)"], "its tile was bare")
    tracks[2].hasShown = true
    #expect(sids(arranger.places(of: tracks, at: start)) == ["c", "a", "s"])
  }

  @Test func rectanglesOfOneSizeAndPlaceAreApart() throws {
    let whole = "x: 0, y: 0, width: 1, height: 1"
    var arranger = try own("\(whole), order: speaking", "\(whole), level: -1")
    #expect(sids(arranger.places(of: [camera("a", since: 1), camera("b")], at: start)) == ["b", "a"])
    let tracks = [camera("a"), camera("b"), camera("c", since: 2, shown: false)]
    #expect(Set(sids(arranger.places(of: tracks, at: start))).isSuperset(of: ["(c)"]))
  }

  @Test func whoComesOntoAFullGridIsWaitedFor() {
    var arranger = CompositeArranger(.grid, size: size)
    var five = (1...5).map { camera("\($0)") }
    let before = arranger.places(of: five, at: start)
    #expect(sids(before) == ["1", "2", "3", "4"])
    five[4] = camera("5", since: 1, shown: false)
    let waiting = arranger.places(of: five, at: start)
    #expect(Array(waiting.prefix(4)) == before && sids(waiting) == ["1", "2", "3", "4", "(5)"])
    #expect(waiting[4].place == before[3].place)
    five[4].hasShown = true
    #expect(sids(arranger.places(of: five, at: start)) == ["1", "2", "3", "5"])
  }

  /// One who comes where nobody was has no one to be seen meanwhile.
  @Test func aGridThatGrowsDoesSoAtOnce() {
    var arranger = CompositeArranger(.grid, size: size)
    #expect(sids(arranger.places(of: [camera("1")], at: start)) == ["1"])
    #expect(sids(arranger.places(of: [camera("1"), camera("2", shown: false)], at: start)) == ["1", "2"])
  }
}
