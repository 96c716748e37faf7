import Foundation
import Testing

@testable import Egress

/// What a playlist says (RFC 8216).
@Suite struct MediaPlaylistTests {
  private func segment(_ name: String, _ seconds: Double = 4, at date: Double = 0) -> MediaPlaylist.Segment {
    MediaPlaylist.Segment(name: name, duration: .seconds(seconds), date: Date(timeIntervalSince1970: date))
  }

  @Test func anEventListsAllAndIsOnDemandInTheEnd() {
    var playlist = MediaPlaylist(.event, targetDuration: 4)
    playlist.append(segment("a_00000.ts", 3.96, at: 1_700_000_000.25))
    playlist.append(segment("a_00001.ts", 4))
    let text = playlist.text(isOver: false)
    #expect(
      text.hasPrefix(
        """
        #EXTM3U
        #EXT-X-VERSION:3
        #EXT-X-PLAYLIST-TYPE:EVENT
        #EXT-X-TARGETDURATION:4
        #EXT-X-MEDIA-SEQUENCE:0
        #EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:20.250Z
        #EXTINF:3.960000,
        a_00000.ts
        #EXT-X-PROGRAM-DATE-TIME:
        """))
    #expect(playlist.text(isOver: true) == text + "#EXT-X-ENDLIST\n")
  }

  @Test func anEventOnlyGrows() throws {
    var playlist = MediaPlaylist(.event, targetDuration: 4, initialization: "a_init.mp4")
    #expect(playlist.addition(of: segment("a_0.m4s")) == nil, "its head is yet to be written")
    playlist.append(segment("a_0.m4s"))
    for number in 1...4 {
      if number == 3 { playlist.resume(initialization: "a_init-2.mp4") }
      let (before, next) = (playlist.text(isOver: false), segment("a_\(number).m4s"))
      let addition = try #require(playlist.addition(of: next))
      playlist.append(next)
      #expect(playlist.text(isOver: false) == before + addition)
    }
    let ending = try #require(playlist.ending)
    #expect(playlist.text(isOver: true) == playlist.text(isOver: false) + ending)
  }

  @Test func whatChangesWhatIsThereIsNoAddition() {
    var playlist = MediaPlaylist(.event, targetDuration: 4)
    playlist.append(segment("a_0.ts"))
    #expect(playlist.addition(of: segment("a_1.ts")) != nil)
    playlist.resume(initialization: "a_init.mp4")
    #expect(playlist.addition(of: segment("a_1.m4s")) == nil, "it asks for another version")
    var live = MediaPlaylist(.live(3), targetDuration: 4)
    live.append(segment("a_0.ts"))
    #expect(live.addition(of: segment("a_1.ts")) == nil && live.ending == nil)
  }

  @Test func aLiveOneListsTheNewest() {
    var playlist = MediaPlaylist(.live(3), targetDuration: 4)
    for number in 0..<5 { playlist.append(segment("a_\(number).ts")) }
    let lines = playlist.text(isOver: false).split(separator: "\n")
    #expect(lines.filter { !$0.hasPrefix("#") } == ["a_2.ts", "a_3.ts", "a_4.ts"])
    #expect(lines.contains("#EXT-X-MEDIA-SEQUENCE:2") && !lines.contains { $0.hasPrefix("#EXT-X-PLAYLIST-TYPE") })
  }

  @Test func itIsNeverShorterThanThreeTargetDurations() {
    var playlist = MediaPlaylist(.live(2), targetDuration: 4)
    for number in 0..<20 { playlist.append(segment("a_\(number).ts", 1.75)) }
    #expect(playlist.listed == 7 && playlist.sequence == 13)
    playlist.append(segment("long.ts", 4))
    #expect(playlist.listed == 6)
  }

  @Test func whatGoesInFrontAsksForVersion6() {
    let text = MediaPlaylist(.event, targetDuration: 2, initialization: "a_init.mp4").text(isOver: false)
    #expect(text.contains("#EXT-X-VERSION:6\n") && text.contains("#EXT-X-MAP:URI=\"a_init.mp4\"\n"))
  }

  @Test func aNameIsNoAddress() {
    var playlist = MediaPlaylist(.event, targetDuration: 4)
    playlist.append(segment("http:100% a?#\n\"_00000.ts"))
    #expect(playlist.text(isOver: false).hasSuffix("\nhttp%3A100%25%20a%3F%23%0A%22_00000.ts\n"))
  }

  /// Another pipeline goes on with the playlist (RFC 8216, 4.3.2.3 and 4.3.3.3).
  @Test func anotherStreamIsSaidToBeginAnew() {
    var playlist = MediaPlaylist(.live(3), targetDuration: 4, initialization: "a_init.mp4")
    playlist.append(segment("a_0.m4s"))
    playlist.resume(initialization: "a_init-2.mp4")
    for number in 1...2 { playlist.append(segment("a_\(number).m4s")) }
    let lines = { (text: String) in
      text.split(separator: "\n").filter { !$0.hasPrefix("#EXT-X-PROGRAM") && !$0.hasPrefix("#EXTINF") }.dropFirst(3)
    }
    let map = #"#EXT-X-MAP:URI="a_init-2.mp4""#
    #expect(
      lines(playlist.text(isOver: false)) == [
        "#EXT-X-MEDIA-SEQUENCE:0", #"#EXT-X-MAP:URI="a_init.mp4""#, "a_0.m4s", "#EXT-X-DISCONTINUITY", "\(map)",
        "a_1.m4s", "a_2.m4s",
      ])
    playlist.append(segment("a_3.m4s"))
    #expect(
      lines(playlist.text(isOver: false)) == [
        "#EXT-X-MEDIA-SEQUENCE:1", "\(map)", "#EXT-X-DISCONTINUITY", "a_1.m4s", "a_2.m4s", "a_3.m4s",
      ])
    playlist.append(segment("a_4.m4s"))
    #expect(
      lines(playlist.text(isOver: false)) == [
        "#EXT-X-MEDIA-SEQUENCE:2", "#EXT-X-DISCONTINUITY-SEQUENCE:1", "\(map)", "a_2.m4s", "a_3.m4s", "a_4.m4s",
      ])
  }

  /// Another recording goes on with it (RFC 8216, 4.3.3.1 and 6.2.2).
  @Test func whatPlayersKnowOfALiveOneStays() throws {
    var playlist = MediaPlaylist(.live(3), targetDuration: 4)
    for number in 0..<5 {
      // One discontinuity is still listed in the end.
      if [1, 4].contains(number) { playlist.resume(initialization: nil) }
      playlist.append(segment("a_\(number).ts"))
    }
    let course = try #require(MediaPlaylist.Course(of: playlist.text(isOver: false)))
    #expect(course.sequence == 5 && course.discontinuities == 2 && course.targetDuration == 4)
    #expect(MediaPlaylist.Course(of: playlist.text(isOver: true)) == course)
    var next = MediaPlaylist(.live(3), targetDuration: 2, after: course)
    next.append(segment("b_0.ts"))
    let lines = next.text(isOver: false).split(separator: "\n")
    #expect(
      lines[2...5] == [
        "#EXT-X-TARGETDURATION:4", "#EXT-X-MEDIA-SEQUENCE:5", "#EXT-X-DISCONTINUITY-SEQUENCE:2", "#EXT-X-DISCONTINUITY",
      ])
    let later = try #require(MediaPlaylist.Course(of: next.text(isOver: true)))
    #expect(later.sequence == 6 && later.discontinuities == 3)
    #expect(MediaPlaylist(.live(3), targetDuration: 6, after: course).targetDuration == 6, "segments are longer")
  }

  @Test(arguments: [
    "", "\n\n", "of yesterday", "\u{0}\u{fffd}#EXTM3U", "#EXTM3U", "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:3",
    "#EXTM3U\n#EXT-X-TARGETDURATION:4", "#EXTM3U\n#EXT-X-TARGETDURATION:0\n#EXT-X-MEDIA-SEQUENCE:3",
    "#EXTM3U\n#EXT-X-TARGETDURATION:9223372036854775807\n#EXT-X-MEDIA-SEQUENCE:3",
    "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:-1",
    "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:9223372036854775807\n#EXTINF:4,\na.ts",
    "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:99999999999999999999",
    "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:3\n#EXT-X-DISCONTINUITY-SEQUENCE:x",
    "#EXTM3U\n#EXT-X-PLAYLIST-TYPE:EVENT\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:0",
  ])
  func whatIsNoLiveOneIsNotGoneOnWith(_ text: String) { #expect(MediaPlaylist.Course(of: text) == nil) }
}
