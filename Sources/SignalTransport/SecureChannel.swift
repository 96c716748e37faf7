import COpenSSL
import MediaCore
import NIOCore

/// TLS towards a server: whom to trust, and under which name. Made once for an attempt to connect, since it reads files.
///
/// Unchecked: OpenSSL's contexts are for many threads once nobody sets anything of them.
final class SecureChannel: @unchecked Sendable {
  /// `SSL_OP_NO_RENEGOTIATION`, a macro that Swift does not take.
  private static let noRenegotiation: UInt64 = 1 << 30

  private let context: OpaquePointer
  private let host: String

  init(host: String, trusting authorities: NamedAuthorities) throws(TLSFailure) {
    guard let context = SSL_CTX_new(TLS_client_method()) else { throw TLSFailure.newest }
    (self.context, self.host) = (context, host)
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
    SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER), nil)
    SSL_CTX_set_options(context, Self.noRenegotiation)
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    let (named, complaint) = authorities.read()
    let store = SSL_CTX_get_cert_store(context)
    guard complaint == nil, Self.add(named, to: store) else { throw TLSFailure.authorities(complaint) }
    _ = Self.add(authorities.others, to: store)
  }

  deinit { SSL_CTX_free(context) }

  func addHandler(to channel: any Channel) throws {
    guard let ssl = SSL_new(context) else { throw TLSFailure.newest }
    let handler = try TLSHandler(owning: ssl)
    SSL_set_connect_state(ssl)
    guard expectName(ssl) else { throw TLSFailure.newest }
    try channel.pipeline.syncOperations.addHandler(handler)
  }

  /// - Returns: false where the certificate would not be compared with it.
  private func expectName(_ ssl: OpaquePointer) -> Bool {
    let wanted = SSL_get0_param(ssl)
    // A bare address has no name to send along; it is compared with the certificate all the same.
    if X509_VERIFY_PARAM_set1_ip_asc(wanted, host) == 1 { return true }
    // As in DNS; neither certificates nor servers know the dot (RFC 6066, 3).
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
    X509_VERIFY_PARAM_set_hostflags(wanted, UInt32(flags))
    var text = Array(name.utf8CString)
    return !name.isEmpty && X509_VERIFY_PARAM_set1_host(wanted, name, name.utf8.count) == 1
      && SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &text) == 1
  }

  /// False when something of them is no certificate.
  private static func add(_ pem: [UInt8], to store: OpaquePointer?) -> Bool {
    guard !pem.isEmpty else { return true }
    return pem.withUnsafeBytes { bytes in
      guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return false }
      defer { BIO_free(source) }
      ERR_clear_error()
      while let certificate = PEM_read_bio_X509(source, nil, nil, nil) {
        X509_STORE_add_cert(store, certificate)
        X509_free(certificate)
      }
      defer { ERR_clear_error() }
      return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
    }
  }
}

extension SecureChannel {
  /// Nil for a server that is reached without TLS.
  static func to(_ url: SignalURL, trusting authorities: NamedAuthorities) throws(SignalError) -> SecureChannel? {
    guard url.isSecure else { return nil }
    do { return try SecureChannel(host: url.host, trusting: authorities) } catch { throw error.signalError(url.host) }
  }
}
