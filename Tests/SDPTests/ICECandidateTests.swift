import ParserExercises
import Testing

@testable import SDP

@Suite struct ICECandidateTests {
  @Test(arguments: [
    "candidate:1 1 udp 2122260223 192.0.2.1 50000 typ host",
    "candidate:2 1 udp 1686052607 203.0.113.5 61000 typ srflx raddr 192.0.2.1 rport 50000 generation 0",
    "candidate:3 1 tcp 1518280447 192.0.2.1 9 typ host tcptype active",
    "candidate:4 1 tcp 1518280447 192.0.2.1 7881 typ host tcptype passive generation 0 ufrag ab+/ network-cost 10",
    "candidate:5 1 udp 41885439 2001:db8::7 3478 typ relay raddr :: rport 0",
  ]) func writesWhatItReads(text: String) throws {
    let candidate = try #require(ICECandidate(parsing: text))
    #expect(candidate.description == text)
    #expect(ICECandidate(parsing: "a=" + text) == candidate)
    #expect(ICECandidate(parsing: String(text.dropFirst("candidate:".count))) == candidate)
  }

  @Test func readsTheParts() throws {
    let candidate = try #require(
      ICECandidate(parsing: "candidate:f 1 UDP 7 1a2b.local 5 typ relay raddr 10.0.0.1 rport 9 x y odd"))
    #expect(candidate.transport == .udp && candidate.kind == .relay && candidate.address == "1a2b.local")
    #expect(candidate.relatedAddress == "10.0.0.1" && candidate.relatedPort == 9)
    #expect(candidate.extensions == [FormatParameter(name: "x", value: "y")])
  }

  @Test(arguments: [
    "", "candidate:", "candidate:1 1 udp 1 a 1 typ", "candidate:1 1 sctp 1 a 1 typ host",
    "candidate:1 1 udp 4294967296 a 1 typ host", "candidate:1 1 udp 1 a 65536 typ host",
    "candidate:1 -1 udp 1 a 1 typ host", "candidate:1 1 udp 1 a 1 typ any", "candidate:1 1 udp 1 a 1 type host",
    "candidate:1 1 udp 1 a 1 typ host\r\na=x",
    "candidate:1 1 udp 1 a 1 typ host " + String(repeating: "x ", count: 4000),
  ]) func refuses(text: String) {
    #expect(ICECandidate(parsing: text) == nil)
  }

  @Test func survivesMutations() {
    var random = SeededRandom(seed: 5)
    let sample = Array("candidate:2 1 udp 1686052607 203.0.113.5 61000 typ srflx raddr 192.0.2.1 rport 5 a b".utf8)
    for _ in 0..<20_000 {
      var bytes = sample
      for _ in 0..<3 {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard let candidate = ICECandidate(parsing: String(decoding: bytes, as: UTF8.self)) else { continue }
      #expect(ICECandidate(parsing: candidate.description) == candidate)
    }
  }
}
