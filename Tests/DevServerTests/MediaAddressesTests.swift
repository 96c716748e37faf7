import Testing

@testable import DevServer

/// Where media is to be had of a server, by the address that it listens at.
@Suite struct MediaAddressesTests {
  @Test(arguments: ["127.0.0.1", "::1"]) func anAddressStandsForItself(address: String) {
    #expect(MediaAddresses.of(address) == [address])
  }

  @Test(arguments: ["0.0.0.0", "::"]) func whatStandsForAllIsAnnouncedToNobody(address: String) {
    let all = MediaAddresses.of(address)
    #expect(all.contains("127.0.0.1") && !all.contains(address))
  }
}
