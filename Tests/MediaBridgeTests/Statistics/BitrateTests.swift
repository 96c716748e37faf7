import Testing

@testable import MediaBridge

@Suite struct BitrateTests {
  @Test(
    arguments: [
      (0, "0 bps"), (1, "1 bps"), (999, "999 bps"), (1000, "1 kbps"), (1499, "1 kbps"), (1500, "2 kbps"),
      (950_000, "950 kbps"), (999_499, "999 kbps"), (999_500, "1.0 Mbps"), (1_234_000, "1.2 Mbps"),
      (1_250_000, "1.3 Mbps"), (12_000_000, "12.0 Mbps"), (999_949_999, "999.9 Mbps"), (999_950_000, "1.0 Gbps"),
      (2_560_000_000, "2.6 Gbps"), (UInt64.max, "18446744073.7 Gbps"),
    ] as [(UInt64, String)]) func text(bps: UInt64, text: String)
  { #expect(Bitrate.text(bps) == text) }

  @Test func averages() {
    #expect(Bitrate.average(bytes: 125_000, seconds: 1) == 1_000_000)
    #expect(Bitrate.average(bytes: 125_000, seconds: 0.5) == 2_000_000)
    // A count that began anew, and no time to speak of.
    #expect(Bitrate.average(bytes: -5, seconds: 1) == 0)
    #expect(Bitrate.average(bytes: 5, seconds: 0) == 0)
  }
}
