import Testing

@testable import PeerTransport

/// RFC 7064, 3.1 and RFC 7065, 3.1.
struct ICEServerURLTests {
  @Test(arguments: [
    ("stun:example.org", "stun example.org 3478 udp"),
    ("stun:192.0.2.1:19302", "stun 192.0.2.1 19302 udp"),
    ("turn:example.org?transport=udp", "turn example.org 3478 udp"),
    ("turn:example.org:443?transport=tcp", "turn example.org 443 tcp"),
    ("TURN:[2001:db8::1]:3479?transport=tcp", "turn 2001:db8::1 3479 tcp"),
    ("turn:[2001:db8::1]", "turn 2001:db8::1 3478 udp"),
    ("turns:example.org:443?transport=tcp", "turns example.org 443 tcp"),
    ("turns:example.org", "turns example.org 5349 tcp"),
    ("turns:example.org?transport=udp", "turns example.org 5349 udp"),
  ])
  func isRead(text: String, expected: String) throws {
    let url = try #require(ICEServerURL(text))
    #expect("\(url.scheme) \(url.host) \(url.port) \(url.isTCP ? "tcp" : "udp")" == expected)
  }

  @Test(arguments: ["", "stun", "stun:", "http://example.org", "turn:?transport=udp", "turn:a:b", "turn:[::1"])
  func isRefused(text: String) { #expect(ICEServerURL(text) == nil) }
}
