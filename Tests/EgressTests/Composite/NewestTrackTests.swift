import MediaPipelines
import Testing

@testable import Egress

/// What is seen in a composite of one participant.
@Suite struct NewestTrackTests {
  private let size = PixelSize(width: 640, height: 360)
  private var newest = NewestTrack()

  private func camera(muted: Bool = false, shown: Bool = true) -> TileTrack {
    TileTrack(sid: "camera", source: .camera, isMuted: muted, hasShown: shown)
  }
  private func screen(shown: Bool = true) -> TileTrack {
    TileTrack(sid: "screen", source: .screenShareVideo, hasShown: shown)
  }
  private mutating func seen(_ tracks: TileTrack...) -> [String] {
    newest.places(of: TileTrack.sorted(tracks), in: size).map(\.sid)
  }

  @Test mutating func whatComesTakesOverWithItsFirstFrame() {
    #expect(seen().isEmpty && seen(camera(shown: false)) == ["camera"] && seen(camera()) == ["camera"])
    let waiting = newest.places(of: TileTrack.sorted([camera(), screen(shown: false)]), in: size)
    #expect(waiting.map(\.sid) == ["camera", "screen"] && waiting.map(\.isAwaited) == [false, true])
    #expect(seen(camera(), screen()) == ["screen"])
    #expect(seen(camera(shown: false)) == ["camera"], "the share has ended")
  }

  @Test mutating func whatIsUnmutedIsTheNewest() {
    #expect(seen(camera(), screen()) == ["screen"], "both were there: the screen goes first")
    #expect(seen(camera(muted: true), screen()) == ["screen"])
    #expect(seen(camera(), screen()) == ["camera"])
    #expect(seen(camera(muted: true)) == ["camera"], "nothing else is there")
    let place = newest.places(of: [camera()], in: size).first?.place
    #expect(place == TilePlace(x: 0, y: 0, width: 640, height: 360, fit: .contain), "whole, in one size")
  }
}
