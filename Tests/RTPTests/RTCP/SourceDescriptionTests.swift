import MediaCore
import Testing

@testable import RTP

@Suite("Source descriptions and goodbyes (RFC 3550, 6.5 and 6.6)")
struct SourceDescriptionTests {
  @Test(arguments: ["", "a", "ab", "abc", "user@host", String(repeating: "x", count: 255)])
  func cnamesOfAnyLength(name: String) {
    let packets: [RTCPPacket] = [.sourceDescription(ssrc: SSRC(1), cname: name), .goodbye([SSRC(1)])]
    #expect(RTCPPacket.serialize(packets).count % 4 == 0)
    #expect(roundTrip(packets) == packets)
  }

  @Test func chunksAndOtherItemsAreWalked() {
    // Two chunks; the first has a tool item before the name.
    let bytes = hex("82 ca 00 06 00 00 00 01 06 01 41 01 01 42 00 00 00 00 00 02 01 02 43 44 00 00 00 00")
    #expect(
      parseRTCP(bytes) == [
        .sourceDescription(ssrc: SSRC(1), cname: "B"), .sourceDescription(ssrc: SSRC(2), cname: "CD"),
      ])
  }

  @Test func itemThatRunsOverTheEndIsDropped() {
    #expect(parseRTCP(hex("81 ca 00 02 00 00 00 01 01 ff 41 42")).isEmpty)
  }

  @Test func goodbyeNamesAtMostWhatIsThere() {
    #expect(parseRTCP(hex("83 cb 00 01 00 00 00 01")) == [.goodbye([SSRC(1)])])
    #expect(roundTrip([.goodbye((0..<40).map { SSRC($0) })]) == [.goodbye((0..<31).map { SSRC($0) })])
  }
}
