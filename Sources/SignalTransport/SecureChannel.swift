import Foundation
import MediaCore
import NIOCore
import NIOPosix
import NIOSSL
import SwiftASN1
import X509

/// TLS towards a server: whom to trust, and in words why one is not trusted.
struct SecureChannel {
  let host: String
  let authorities: NamedAuthorities

  func addHandler(to channel: any Channel) throws {
    try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: context(), serverHostname: name))
  }

  private func context() throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.trustRoots = authorities.folders.isEmpty ? .default : .certificates([])
    if !authorities.isEmpty { configuration.additionalTrustRoots = [.certificates(try named())] }
    configuration.minimumTLSVersion = .tlsv12
    return try NIOSSLContext(configuration: configuration)
  }

  private func named() throws -> [NIOSSLCertificate] {
    let (pem, complaint) = authorities.read()
    guard complaint == nil else { throw NIOSSLError.failedToLoadCertificate }
    return pem.isEmpty ? [] : try NIOSSLCertificate.fromPEMBytes(pem)
  }

  /// A bare address has no name to send along, and NIOSSL refuses one; it is compared with the certificate all the same.
  private var name: String? { (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil }

  // MARK: Why it failed

  static func isRefusal(_ error: any Error) -> Bool {
    error is NIOSSLError || error is BoringSSLError || error is NIOSSLExtraError
  }

  /// What `error` of a handshake means. Looks at the certificates once more where they are the reason: the handshake
  /// does not tell what was wrong with them.
  func explain(_ error: any Error, port: Int, bootstrap: ClientBootstrap, until deadline: NIODeadline) async -> String {
    if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname {
      return "its certificate is not for \(host); use the name that it was made for"
    }
    let text = "\(error)"
    if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") {
      return "what answers does not speak TLS; use ws:// if that is wanted, or the port that speaks TLS"
    }
    if error as? NIOSSLError == .failedToLoadCertificate {
      let reason = authorities.read().complaint.map { " (\($0))" } ?? ""
      return "the trusted certificates cannot be read\(reason); check SSL_CERT_FILE and SSL_CERT_DIR"
    }
    guard text.contains("CERTIFICATE_VERIFY_FAILED") else { return text }
    let remedy = "add its CA to this machine's trusted certificates, or name its file in SSL_CERT_FILE"
    guard let chain = await certificates(port: port, bootstrap: bootstrap, until: deadline), let own = chain.first
    else {
      return "its certificate is not trusted; \(remedy)"
    }
    if own.notValidAfter < Date() { return "its certificate expired on \(own.notValidAfter.formatted(.iso8601))" }
    if own.notValidBefore > Date() { return "its certificate is not valid yet; check this machine's clock" }
    if own.issuer == own.subject { return "its certificate is self-signed and not trusted here; \(remedy)" }
    return "its certificate is from '\(own.issuer)', which is not trusted here; \(remedy)"
  }

  /// What the server shows as its certificates. The handshake is broken off there, so nothing is sent to it.
  private func certificates(
    port: Int, bootstrap: ClientBootstrap, until deadline: NIODeadline
  ) async -> [Certificate]? {
    let shown = try? await bootstrap.connect(host: host, port: port) { channel in
      channel.eventLoop.makeCompletedFuture {
        let shown = channel.eventLoop.makePromise(of: [NIOSSLCertificate].self)
        let handler = try NIOSSLClientHandler(context: context(), serverHostname: name) {
          (chain: [NIOSSLCertificate], verified: EventLoopPromise<NIOSSLVerificationResult>) in
          shown.succeed(chain)
          verified.succeed(.failed)
        }
        try channel.pipeline.syncOperations.addHandler(handler)
        let timer = channel.eventLoop.scheduleTask(deadline: deadline) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in
          timer.cancel()
          shown.fail(ChannelError.eof)
        }
        return shown.futureResult
      }
    }.get()
    return try? shown?.map { try Certificate(derEncoded: $0.toDERBytes()) }
  }
}
