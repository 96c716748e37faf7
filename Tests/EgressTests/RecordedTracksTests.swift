import Testing

@testable import Egress
@testable import MediaBridge

/// What is missed of the tracks that were taken.
@Suite struct RecordedTracksTests {
  private func microphone(isMuted: Bool, sid: String = "TR_mic") -> Subscription {
    let info = TrackInfo(
      sid: sid, name: "", kind: .audio, source: .microphone, mimeType: "", mimeTypes: [], isMuted: isMuted,
      dimensions: nil, simulcasted: false, layers: [])
    return Subscription(info, of: "alice", isWanted: true)
  }

  /// A recording of alice that has taken her microphone, of which nothing is written.
  private func tracks(naming sources: [Track.Source], isMuted: Bool = false) -> RecordedTracks {
    var options = RecordingOptions(file: "a.mkv")
    options.sources = sources
    var tracks = RecordedTracks(TrackChoice(options))
    tracks.identity = "alice"
    tracks.take(RemoteTrackPublication(microphone(isMuted: isMuted), requests: NoRequests()))
    return tracks
  }

  /// Whether it is a lack that it never came; nil where that is not told.
  private func isMissed(_ tracks: RecordedTracks) -> Bool? {
    var tracks = tracks
    tracks.noteWhatNeverCame { _ in 0 }
    return tracks.omissions.all.first?.wasWanted
  }

  @Test func whatWasNamedAndNeverCameIsMissed() {
    #expect(isMissed(tracks(naming: [.microphone])) == true)
    #expect(isMissed(tracks(naming: [])) == false, "it was only there")
  }

  @Test func whatIsMutedIsToldAndNotMissed() {
    #expect(isMissed(tracks(naming: [.microphone], isMuted: true)) == false)
  }

  /// People mute themselves before they leave.
  @Test func whatWasMutedInTheEndAloneIsMissed() {
    let tracks = tracks(naming: [.microphone])
    tracks.taken[.audio]?.show(microphone(isMuted: true))
    #expect(tracks.taken[.audio]?.isMuted == true && isMissed(tracks) == true)
  }

  @Test func whatWasUnmutedForAWhileIsMissed() throws {
    var tracks = tracks(naming: [.microphone], isMuted: true)
    tracks.noteUnmuted(try #require(tracks.taken[.audio]))
    #expect(isMissed(tracks) == true)
  }

  /// As where the server was begun anew.
  @Test func whatIsKnownOfATrackIsKnownUnderItsNextSid() throws {
    var tracks = tracks(naming: [.microphone])
    let publication = try #require(tracks.taken[.audio])
    let late = tracks.omission(publication, "it is late", wasWanted: true)
    _ = tracks.omissions.note(late)
    publication.show(microphone(isMuted: true, sid: "TR_next"))
    tracks.followSids()
    #expect(tracks.omissions.all.map(\.sid) == ["TR_next"] && tracks.choice.takenSids == ["TR_mic", "TR_next"])
    tracks.omissions.came("TR_next")
    #expect(tracks.omissions.all.isEmpty && isMissed(tracks) == true, "it was not muted before")
  }

  @Test func whatIsPublishedNoMoreIsNotMissed() {
    var tracks = tracks(naming: [.microphone])
    tracks.taken[.audio] = nil
    #expect(isMissed(tracks) == nil)
  }
}
