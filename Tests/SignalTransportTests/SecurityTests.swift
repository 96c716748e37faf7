import LiveKitProtocol
import MediaCore
import Testing

@testable import SignalTransport

@Suite("TLS", .serialized, .timeLimit(.minutes(2)))
struct SecurityTests {
  private func failure(
    host: String = "127.0.0.1", trusting ca: Bool = true, _ make: (TestCertificates) throws -> Void
  ) async throws -> String? {
    let certificates = try TestCertificates()
    defer { certificates.remove() }
    try make(certificates)
    return try await ScriptedServer.with(.webSocket { $0.join() }, tls: certificates.server("server")) {
      server async throws in
      let connector = try server.connector(
        scheme: "wss", host: host, trusting: ca ? certificates.trust : NamedAuthorities(environment: [:]))
      let failure = await connector.failure()
      #expect(server.requests.isEmpty == (failure != nil), "a request, with the token, went to an untrusted server")
      guard let failure else { return nil }
      guard case .tls(host, let reason) = failure else { return "\(failure)" }
      return reason
    }
  }

  @Test(arguments: ["127.0.0.1", "localhost"]) func aCertificateOfATrustedCAPasses(host: String) async throws {
    #expect(try await failure(host: host) { try $0.leaf("server") } == nil)
  }

  @Test func aSelfSignedCertificateIsRefusedAndSaidToBeOne() async throws {
    let reason = try #require(try await failure { try $0.authority("server") })
    #expect(reason.contains("self-signed") && reason.contains("SSL_CERT_FILE"), "\(reason)")
  }

  @Test func aSelfSignedCertificateThatIsTrustedPasses() async throws {
    let certificates = try TestCertificates()
    defer { certificates.remove() }
    try await ScriptedServer.with(.webSocket { $0.join() }, tls: certificates.server("ca")) { server async throws in
      #expect(try await server.connector(scheme: "wss", trusting: certificates.trust).failure() == nil)
    }
  }

  @Test func anUnknownCAIsNamed() async throws {
    let reason = try #require(try await failure(trusting: false) { try $0.leaf("server") })
    #expect(reason.contains("CN=Test CA") && reason.contains("not trusted"), "\(reason)")
  }

  @Test func aCertificateForAnotherNameIsRefused() async throws {
    let reason = try #require(
      try await failure(host: "localhost") { try $0.leaf("server", for: "DNS:example.org") })
    #expect(reason.contains("not for localhost"), "\(reason)")
    let address = try #require(try await failure { try $0.leaf("server", for: "DNS:example.org") })
    #expect(address.contains("not for 127.0.0.1"), "\(address)")
  }

  @Test func anExpiredCertificateIsSaidToBeOne() async throws {
    let reason = try #require(try await failure { try $0.leaf("server", days: -1) })
    #expect(reason.contains("expired on 20"), "\(reason)")
  }

  @Test func authoritiesThatCannotBeReadAreSaid() async throws {
    try await ScriptedServer.with(.http([:])) { server async throws in
      let trusting = NamedAuthorities(environment: ["SSL_CERT_FILE": "/nowhere/ca.pem"])
      let failure = try await server.connector(scheme: "wss", trusting: trusting).failure()
      let words = failure?.description ?? "none"
      #expect(words.contains("cannot be read") && words.contains("/nowhere/ca.pem"), "\(words)")
    }
  }

  @Test func aServerWithoutTLSIsNamed() async throws {
    try await ScriptedServer.with(.http([:])) { server async throws in
      let failure = try await server.connector(scheme: "wss").failure()
      #expect(failure?.description.contains("does not speak TLS; use ws://") == true, "\(String(describing: failure))")
    }
  }

  @Test func plainTextToAServerWithTLSIsToldFromAnEndedNetwork() async throws {
    let certificates = try TestCertificates()
    defer { certificates.remove() }
    try await ScriptedServer.with(.webSocket { $0.join() }, tls: certificates.server("ca")) { server async throws in
      let failure = try await server.connector().failure()
      #expect(failure != nil && failure != .timedOut("127.0.0.1:\(server.port)"), "\(String(describing: failure))")
    }
  }
}
