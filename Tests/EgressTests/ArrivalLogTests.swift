import Testing

@testable import Egress

/// Of a server that starts again nothing that came before is forgotten.
@Suite struct ArrivalLogTests {
  private func track(_ sid: String, _ packets: Int, lost: Int = 0, kind: String = "video") -> Manifest.Track {
    Manifest.Track(
      trackId: sid, kind: kind, source: "camera", publisherIdentity: "alice", codec: "vp8", packets: packets, lost: lost
    )
  }

  @Test func whatBeginsAnewIsAdded() {
    var log = ArrivalLog()
    log.note(track("TR_b", 10))
    log.note(track("TR_a", 90, lost: 1))
    log.note(track("TR_a", 100, lost: 2))
    log.close("TR_a")
    #expect(log.tracks.map(\.packets) == [100, 10] && log.tracks[0].lost == 2)
    log.note(track("TR_a", 5))
    log.note(track("TR_a", 7, lost: 3))
    log.note(track("TR_c", 1000, kind: "audio"))
    log.close("TR_d")
    #expect(log.tracks.map(\.trackId) == ["TR_a", "TR_b", "TR_c"])
    #expect(log.sum("video") == (117, 5) && log.sum("audio") == (1000, 0))
  }
}
