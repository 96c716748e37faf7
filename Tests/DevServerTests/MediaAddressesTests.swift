import Testing

@testable import DevServer

/// Where media is to be had of a server, by the address that it listens at.
@Suite struct MediaAddressesTests {
  @Test(arguments: ["127.0.0.1", "::1"]) func anAddressStandsForItself(address: String) {
    #expect(MediaAddresses.of(address) == [address])
  }

  /// A client may take the one or the other.
  @Test func localhostIsEachAddressOfLoopback() {
    let all = MediaAddresses.of("::")
    #expect(MediaAddresses.listened(at: "localhost") == ["127.0.0.1", "::1"].filter(all.contains))
    #expect(MediaAddresses.listened(at: "host.test") == ["host.test"])
  }

  @Test(arguments: ["0.0.0.0", "::"]) func whatStandsForAllIsAnnouncedToNobody(address: String) {
    let all = MediaAddresses.of(address)
    #expect(all.contains("127.0.0.1") && !all.contains(address))
  }
}
