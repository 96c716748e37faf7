import COpenSSL
import MediaCore
import NIOCore

/// TLS towards a server: whom to trust.
struct SecureChannel {
  let host: String
  let authorities: NamedAuthorities

  func addHandler(to channel: any Channel) throws {
    try channel.pipeline.syncOperations.addHandler(TLSHandler(owning: makeClient()))
  }

  private func makeClient() throws -> OpaquePointer {
    guard let context = SSL_CTX_new(TLS_client_method()) else { throw TLSFailure.newest }
    // `SSL_new` keeps it.
    defer { SSL_CTX_free(context) }
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
    SSL_CTX_set_options(context, Self.noRenegotiation)
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    try trust(SSL_CTX_get_cert_store(context))
    guard let ssl = SSL_new(context) else { throw TLSFailure.newest }
    SSL_set_connect_state(ssl)
    expectName(ssl)
    return ssl
  }

  /// `SSL_OP_NO_RENEGOTIATION`, a macro that Swift does not take: with it a write never waits for something to be read.
  private static let noRenegotiation: UInt64 = 1 << 30

  private func expectName(_ ssl: OpaquePointer) {
    let wanted = SSL_get0_param(ssl)
    // A bare address has no name to send along; it is compared with the certificate all the same.
    guard X509_VERIFY_PARAM_set1_ip_asc(wanted, host) != 1 else { return }
    X509_VERIFY_PARAM_set_hostflags(wanted, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    X509_VERIFY_PARAM_set1_host(wanted, host, host.utf8.count)
    var name = Array(host.utf8CString)
    SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
  }

  private func trust(_ store: OpaquePointer?) throws {
    let (named, complaint) = authorities.read()
    guard complaint == nil, add(named, to: store) else { throw TLSFailure.authorities(complaint) }
    _ = add(authorities.others, to: store)
  }

  /// False when something of them is no certificate.
  private func add(_ pem: [UInt8], to store: OpaquePointer?) -> Bool {
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
