import MediaCore
import RTP
import Testing

struct TailProbesTests {
  @Test func aStreamIsProbedWhileItLoses() {
    var probes = TailProbes()
    #expect(!probes.isWanted(for: 1, at: .ms(0)))
    probes.lost(of: 1, at: .ms(1000))
    #expect(probes.isWanted(for: 1, at: .ms(1000)) && probes.isWanted(for: 1, at: .ms(5990)))
    #expect(!probes.isWanted(for: 2, at: .ms(1000)), "its packets have another way, or luck")
    #expect(!probes.isWanted(for: 1, at: .ms(6000)))
    probes.lost(of: 1, at: .ms(9000))
    #expect(probes.isWanted(for: 1, at: .ms(9000)))
  }
}
