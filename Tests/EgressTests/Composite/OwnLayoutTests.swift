import Foundation
import MediaBridge
import MediaCore
import MediaPipelines
import Testing

@testable import Egress

/// Layouts that somebody has described.
@Suite struct OwnLayoutTests {
  private let size = PixelSize(width: 1280, height: 720)
  private let start = MediaTime(nanoseconds: 0)

  private func track(
    _ sid: String, _ identity: String, source: Track.Source = .camera, since: Int64? = nil
  ) -> TileTrack {
    TileTrack(
      sid: sid, source: source, hasShown: true,
      speaker: .init(
        identity: identity, isSpeaking: since != nil, audioLevel: since == nil ? 0 : 0.5,
        lastSpokeAt: since.map { MediaTime(nanoseconds: $0) }))
  }

  private func places(_ tracks: [TileTrack], _ yaml: String) throws -> [PlacedTrack] {
    var arranger = CompositeArranger(.own(try OwnLayout(yaml: yaml, file: "own.yaml")), size: size)
    return arranger.places(of: tracks, at: start)
  }

  @Test func theExampleSaysWhoGoesWhere() throws {
    let file = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/").dropFirst()
    let layout = try OwnLayout(file: "\(file)/Examples/Layouts/interview.yaml")
    #expect(layout.name == "interview" && CompositeLayout.own(layout).rawValue == "interview")
    var arranger = CompositeArranger(.own(layout), size: size)
    let cameras = [track("a", "ann"), track("h", "host-1"), track("b", "bob", since: 5), track("c", "cyd")]
    let seen = arranger.places(of: cameras, at: start)
    #expect(seen.map(\.sid) == ["h", "b", "a", "c"], "a track is seen once")
    #expect(seen[0].place == TilePlace(x: 0, y: 0, width: 640, height: 540, fit: .cover))
    #expect(seen[1].place == TilePlace(x: 640, y: 0, width: 640, height: 540, fit: .cover))
    #expect(seen[3].place == TilePlace(x: 320, y: 540, width: 320, height: 180, fit: .cover))
    let shared = arranger.places(of: cameras + [track("s", "ann", source: .screenShareVideo)], at: start)
    #expect(shared.last?.sid == "s" && shared.last?.place.width == 1280, "it is above them")
    #expect(shared.last?.place.fit == .contain)
  }

  @Test func neighboursInFractionsAreNeighboursInPixels() throws {
    let third = (0..<3).map { "  - {x: \($0)/3, y: 0, width: 1/3, height: 1, fit: contain}" }.joined(separator: "\n")
    let seen = try places((0..<4).map { track("\($0)", "p\($0)") }, "tiles:\n" + third)
    #expect(seen.map(\.sid) == ["0", "1", "2"] && seen.allSatisfy { $0.place.fit == .contain })
    #expect(seen[0].place.width == seen[1].place.x && seen[2].place.x + seen[2].place.width == 1280)
  }

  @Test func whoSpeaksIsHeldAsLongAsIsAskedFor() throws {
    let layout = try OwnLayout(yaml: "tiles: [{x: 0, y: 0, width: 1, height: 1, order: speaking}]", file: "a.yml")
    var arranger = CompositeArranger(.own(layout), size: size, speakerHold: .seconds(2))
    let (ann, bob) = (track("a", "ann"), track("b", "bob", since: 9))
    #expect(arranger.places(of: [ann], at: start).map(\.sid) == ["a"])
    #expect(arranger.places(of: [ann, bob], at: start + .seconds(1)).map(\.sid) == ["a"])
    #expect(arranger.places(of: [ann, bob], at: start + .seconds(2.1)).map(\.sid) == ["b"])
    #expect(arranger.places(of: [ann], at: start + .seconds(2.2)).map(\.sid) == ["a"], "who has gone is not held")
  }

  /// File, line, column, and what to do.
  @Test(arguments: [
    ("", "own.yaml: there is no layout in it"),
    ("tiles: 3", "own.yaml:1:8: `tiles` takes a list"),
    ("tile: []", "own.yaml:1:1: there is no `tile`; did you mean `tiles`?"),
    ("- 1", "own.yaml:1:1: write `name: value` here"),
    ("tiles:\n  - {x: 0, y: 0, width: 1}", "own.yaml:2:5: `height` is missing"),
    ("tiles:\n  - {x: 0, y: 0, widht: 1, height: 1}", "own.yaml:2:18: there is no `widht`; did you mean `width`?"),
    ("tiles:\n  - x: 2\n    y: 0\n    width: 1\n    height: 1", "own.yaml:2:8: `x` takes a fraction"),
    ("tiles:\n  - {x: 0.5, y: 0, width: 0.6, height: 1}", "own.yaml:2:27: with this `width` it ends outside"),
    ("tiles:\n  - {x: 0, y: 0, width: 0, height: 1}", "`width` is more than 0"),
    ("tiles:\n  - {x: 1/0, y: 0, width: 1, height: 1}", "`x` takes a fraction"),
    ("tiles:\n  - {x: nan, y: 0, width: 1, height: 1}", "`x` takes a fraction"),
    ("tiles:\n  - {x: [0], y: 0, width: 1, height: 1}", "own.yaml:2:9: `x` takes text"),
    ("tiles: [{x: 0, y: 0, width: 1, height: 1, fit: stretch}]", "`fit` takes one of cover, contain"),
    ("tiles: [{x: 0, y: 0, width: 1, height: 1, level: high}]", "`level` takes a whole number"),
    ("tiles: [{x: 0, x: 0, y: 0, width: 1, height: 1}]", "`x` is there twice"),
    ("tiles: [", "own.yaml:2:1: this is no YAML"), ("a: &a [*a]", "own.yaml:"),
  ])
  func mistakesAreNamedByPlace(_ yaml: String, _ said: String) {
    let error = #expect(throws: LiveKitError.self) { try OwnLayout(yaml: yaml, file: "own.yaml") }
    #expect(error?.message.contains(said) == true, "\(error?.message ?? "")")
  }

  /// The parser goes as deep as the text does, and a thread's stack has an end.
  @Test func whatIsNestedTooDeepIsNotParsed() {
    for step in ["[", "[\n", "- ", "{a: "] {
      let error = #expect(throws: LiveKitError.self) {
        try OwnLayout(yaml: String(repeating: step, count: 16_000), file: "own.yaml")
      }
      #expect(error?.message.contains("this is nested too deep") == true)
    }
  }

  @Test func metadataNamesTheLayoutThatItBeganWith() throws {
    let own = CompositeLayout.own(OwnLayout(name: "grid-of-mine", tiles: []))
    #expect(CompositeLayout(metadata: #"{"layout": "grid-of-mine"}"#, first: own) == own)
    #expect(CompositeLayout(metadata: #"{"layout": "grid"}"#, first: own) == .grid)
  }

  @Test func aFileThatIsNoneIsNamed() {
    let error = #expect(throws: LiveKitError.self) { try OwnLayout(file: "/gone/a.yaml") }
    #expect(error?.message.contains("/gone/a.yaml cannot be read") == true)
  }
}
