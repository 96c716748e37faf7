import LiveKitProtocol
import Testing

@testable import MediaBridge

/// What is announced and not answered yet.
@Suite struct LocalTracksTests {
  private static func announcement(_ cid: String) -> Livekit_SignalRequest {
    var request = Livekit_SignalRequest()
    request.addTrack.cid = cid
    request.addTrack.simulcastCodecs = [Livekit_SimulcastCodec(), Livekit_SimulcastCodec()]
    request.addTrack.simulcastCodecs[0].cid = cid
    return request
  }

  /// A server that knows the id already does not answer, and one that does not know it may have never got it.
  @Test func whatWasNotAnsweredIsAnnouncedUnderAnotherID() async throws {
    var tracks = LocalTracks()
    let answer = tracks.await(answerTo: Self.announcement("first"))
    let again = try #require(tracks.announceAgain().first).addTrack
    #expect(again.cid != "first" && again.simulcastCodecs.map(\.cid) == [again.cid, ""])
    let last = try #require(tracks.announceAgain().first).addTrack.cid
    var response = Livekit_TrackPublishedResponse()
    for (cid, isAnswer) in [("first", false), (again.cid, false), (last, true)] {
      response.cid = cid
      tracks.announced(response)
      #expect((answer.current != nil) == isAnswer)
    }
    #expect(try answer.current?.get().cid == last)
    tracks.forget("first")
    #expect(tracks.announceAgain().isEmpty && tracks.isEmpty)
  }
}
