import MediaCore
import RTP
import Testing

struct TailProbesTests {
  private static let (lossy, other) = (SSRC(1), SSRC(2))

  @Test func aStreamIsProbedWhileItLoses() {
    var probes = TailProbes()
    #expect(!probes.isWanted(for: Self.lossy, at: .ms(0)))
    probes.lost(of: Self.lossy, at: .ms(1000))
    #expect(probes.isWanted(for: Self.lossy, at: .ms(1000)))
    #expect(probes.isWanted(for: Self.lossy, at: .ms(5990)))
    #expect(!probes.isWanted(for: Self.other, at: .ms(1000)), "its packets have another way, or luck")
    #expect(!probes.isWanted(for: Self.lossy, at: .ms(6000)))
    probes.lost(of: Self.lossy, at: .ms(9000))
    #expect(probes.isWanted(for: Self.lossy, at: .ms(9000)))
  }
}
