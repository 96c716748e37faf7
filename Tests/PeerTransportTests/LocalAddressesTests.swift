import Testing

@testable import PeerTransport

@Suite struct LocalAddressesTests {
  @Test func loopbackIsLast() throws {
    let all = LocalAddresses.all()
    #expect(all.last == "::1" || all.last == "127.0.0.1", "\(all)")
    #expect(!LocalAddresses.all(withLoopback: false).contains("127.0.0.1"))
  }

  /// libnice aborts over what it cannot rank, and nobody reaches this machine by a link-local address.
  @Test func ofManyTheFirstAreUsed() {
    let many = ["10.0.0.1", "fe80::1%eth0"] + (1..<100).map { "172.17.0.\($0)" } + ["127.0.0.1"]
    let used = LocalAddresses.toGather(of: many)
    #expect(used.count == 31 && used.first == "10.0.0.1" && used.last == "172.17.0.30")
    #expect(LocalAddresses.toGather(of: ["192.0.2.1", "127.0.0.1"]) == ["192.0.2.1", "127.0.0.1"])
  }
}
