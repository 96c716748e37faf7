import LiveKitProtocol
import MediaCore
import Testing

@testable import SignalTransport

/// What speaks plain TCP, through a tunnel, to servers that speak TLS: here it is signalling, which says most of what came.
@Suite(.serialized, .timeLimit(.minutes(1))) struct TLSTunnelTests {
  private static func withServer(_ body: (ScriptedServer, TestCertificates) async throws -> Void) async throws {
    let certificates = try TestCertificates()
    defer { certificates.remove() }
    try certificates.leaf("server")
    let script = ScriptedServer.Script.webSocket { $0.join() }
    try await ScriptedServer.with(script, tls: certificates.server("server")) { server async throws in
      try await body(server, certificates)
    }
  }

  private static func connector(_ endpoint: (address: String, port: UInt16)) throws -> SignalConnector {
    let host = endpoint.address.contains(":") ? "[\(endpoint.address)]" : endpoint.address
    return SignalConnector(
      url: try SignalURL("ws://\(host):\(endpoint.port)"), token: "a.b.c", query: SignalQuery(autoSubscribe: true),
      timeout: .seconds(20))
  }

  @Test func carriesBothWays() async throws {
    try await Self.withServer { server, certificates async throws in
      let tunnel = TLSTunnel(to: "localhost", port: UInt16(server.port), trusting: certificates.trust)
      #expect(server.acceptedConnections == 0)
      for (count, endpoint) in tunnel.endpoints.enumerated() {
        #expect(try await Self.connector(endpoint).failure() == nil)
        #expect(server.requests.count == count + 1 && tunnel.failure == nil)
      }
      #expect(tunnel.endpoints.map(\.address).contains("127.0.0.1"))
    }
  }

  @Test func nothingGoesToAServerThatIsNotTrusted() async throws {
    try await Self.withServer { server, _ async throws in
      let tunnel = TLSTunnel(
        to: "localhost", port: UInt16(server.port), trusting: NamedAuthorities(environment: [:]))
      #expect(try await Self.connector(tunnel.endpoints[0]).failure() != nil)
      #expect(tunnel.failure?.contains("CN=Test CA") == true, "\(tunnel.failure ?? "")")
      #expect(server.requests.isEmpty)
    }
  }

  @Test func aServerThatIsNotThereIsNamed() async throws {
    let port = try await ScriptedServer.with(.http([:])) { $0.port }
    let tunnel = TLSTunnel(to: "127.0.0.1", port: UInt16(port))
    #expect(try await Self.connector(tunnel.endpoints[0]).failure() != nil)
    #expect(tunnel.failure?.contains("nothing answers at 127.0.0.1:\(port)") == true, "\(tunnel.failure ?? "")")
  }

  @Test func aServerThatSpeaksSomethingElseIsNamed() async throws {
    try await ScriptedServer.with(.bytes(Array("hello".utf8), closes: true)) { server async throws in
      let tunnel = TLSTunnel(to: "127.0.0.1", port: UInt16(server.port))
      #expect(try await Self.connector(tunnel.endpoints[0]).failure() != nil)
      #expect(tunnel.failure?.contains("does not speak TLS") == true, "\(tunnel.failure ?? "")")
    }
  }

  @Test func endsWithItsOwner() async throws {
    try await Self.withServer { server, certificates async throws in
      var tunnel: TLSTunnel? = TLSTunnel(to: "localhost", port: UInt16(server.port), trusting: certificates.trust)
      let endpoint = try #require(tunnel?.endpoints[0])
      tunnel = nil
      var failure: SignalError?
      repeat { failure = try await Self.connector(endpoint).failure() } while failure == nil
      #expect(failure == .connectionRefused("127.0.0.1:\(endpoint.port)"))
    }
  }
}
