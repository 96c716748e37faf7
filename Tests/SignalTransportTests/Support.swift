import COpenSSL
import Foundation
import LiveKitProtocol
import MediaCore
import Testing

@testable import SignalTransport

extension ScriptedServer {
  /// Runs `body` with a server and takes it down again.
  static func with<Result>(
    _ script: Script, tls: ServerTLS? = nil, _ body: (ScriptedServer) async throws -> Result
  ) async throws -> Result {
    let server = try await ScriptedServer(script, tls: tls)
    do {
      let result = try await body(server)
      await server.stop()
      return result
    } catch {
      await server.stop()
      throw error
    }
  }

  func connector(
    scheme: String = "ws", host: String = "127.0.0.1", token: String = "a.b.c", timeout: Duration = .seconds(20),
    trusting: NamedAuthorities = NamedAuthorities(environment: [:])
  ) throws -> SignalConnector {
    SignalConnector(
      url: try SignalURL("\(scheme)://\(host):\(port)"), token: token, query: SignalQuery(autoSubscribe: true),
      timeout: timeout, authorities: trusting)
  }
}

extension SignalConnector {
  /// The error of a connection that must not come about.
  func failure() async -> SignalError? {
    do throws(SignalError) {
      await (try connect()).close()
      return nil
    } catch {
      return error
    }
  }
}

extension SignalConnection {
  /// Reads to the end: every response, and why there are no more.
  func untilEnd() async -> (responses: [Livekit_SignalResponse], reason: SignalError?) {
    var list: [Livekit_SignalResponse] = []
    for await response in responses { list.append(response) }
    return (list, closeReason)
  }
}

/// Certificates that the `openssl` program makes in a folder of their own.
struct TestCertificates {
  let folder = FileManager.default.temporaryDirectory.appending(path: "mediabridge-\(UUID().uuidString)")
  private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try authority("ca", subject: "/CN=Test CA")
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  var trust: NamedAuthorities { NamedAuthorities(environment: ["SSL_CERT_FILE": path("ca.pem")]) }

  /// Signed by itself, with the names of this machine.
  func authority(_ name: String, subject: String = "/CN=localhost") throws {
    try openssl(
      ["req", "-x509"] + Self.newKey + ["-keyout", path("\(name).key"), "-out", path("\(name).pem"), "-days", "2"]
        + ["-subj", subject, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
  }

  /// Signed by the CA.
  func leaf(
    _ name: String, for names: String = "DNS:localhost,IP:127.0.0.1", subject: String = "/CN=leaf", days: Int = 2
  ) throws {
    try openssl(
      ["req"] + Self.newKey + ["-keyout", path("\(name).key"), "-out", path("\(name).csr"), "-subj", subject])
    try Data("subjectAltName=\(names)\n".utf8).write(to: URL(filePath: path("\(name).ext")))
    try openssl([
      "x509", "-req", "-in", path("\(name).csr"), "-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-CAcreateserial",
      "-days", "\(days)", "-out", path("\(name).pem"), "-extfile", path("\(name).ext"),
    ])
  }

  func server(_ name: String) -> ServerTLS { ServerTLS(certificate: path("\(name).pem"), key: path("\(name).key")) }

  private func path(_ name: String) -> String { folder.appending(path: name).path() }

  private func openssl(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "openssl \(arguments.joined(separator: " "))")
  }
}

/// What a server is known by: files of PEM.
struct ServerTLS {
  let certificate: String
  let key: String

  /// - Parameter version: the newest that it speaks.
  func makeHandler(upTo version: Int32 = TLS1_3_VERSION) throws -> TLSHandler {
    let context = try #require(SSL_CTX_new(TLS_server_method()))
    defer { SSL_CTX_free(context) }
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
    try #require(SSL_CTX_use_certificate_file(context, certificate, SSL_FILETYPE_PEM) == 1)
    try #require(SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1)
    let ssl = try #require(SSL_new(context))
    SSL_set_accept_state(ssl)
    return try TLSHandler(owning: ssl)
  }
}
