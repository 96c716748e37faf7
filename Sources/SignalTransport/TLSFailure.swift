import COpenSSL
import Foundation

/// Why there is no TLS with a server.
enum TLSFailure: Error {
  /// The trusted ones cannot be read.
  case authorities(String?)
  case certificate(RefusedCertificate)
  /// What answers speaks something else.
  case notTLS
  /// In OpenSSL's words.
  case other(String)

  /// OpenSSL's newest error on this thread.
  static var newest: TLSFailure {
    let code = ERR_peek_last_error()
    if [SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST].contains(ERR_GET_REASON(code)) { return .notTLS }
    return .other(ERR_reason_error_string(code).map { String(cString: $0) } ?? "the handshake ended unexpectedly")
  }

  func signalError(_ host: String) -> SignalError { .tls(host: host, reason: reason(host: host)) }

  /// What happened, and what to do about it.
  func reason(host: String) -> String {
    switch self {
    case .authorities(let complaint):
      let reason = complaint.map { " (\($0))" } ?? ""
      return "the trusted certificates cannot be read\(reason); check SSL_CERT_FILE and SSL_CERT_DIR"
    case .certificate(let certificate): return certificate.reason(host: host)
    case .notTLS:
      return "what answers does not speak TLS; use ws:// if that is wanted, or the port that speaks TLS"
    case .other(let text): return text
    }
  }
}

/// A certificate that a check of its chain refused (RFC 5280, 6).
struct RefusedCertificate {
  /// `X509_V_ERR_…`.
  private let code: Int32
  /// When what was refused ends.
  private let end: Date?
  /// Who has signed what the server showed first, as in RFC 4514: `CN=name,O=organization`.
  private let issuer: String

  init(_ chain: OpaquePointer) {
    code = X509_STORE_CTX_get_error(chain)
    end = X509_STORE_CTX_get_current_cert(chain).flatMap { Self.date(X509_get0_notAfter($0)) }
    let name = X509_STORE_CTX_get0_cert(chain).map { Self.text(X509_get_issuer_name($0)) }
    issuer = SignalError.shown(name ?? "")
  }

  func reason(host: String) -> String {
    let remedy = "add its CA to this machine's trusted certificates, or name its file in SSL_CERT_FILE"
    switch code {
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "its certificate is not for \(host); use the name that it was made for"
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "its certificate expired\(end.map { " on \($0.formatted(.iso8601))" } ?? "")"
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "its certificate is not valid yet; check this machine's clock"
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "its certificate is self-signed and not trusted here; \(remedy)"
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return "its certificate is from '\(issuer)', which is not trusted here; \(remedy)"
    default:
      return "its certificate is not trusted (\(String(cString: X509_verify_cert_error_string(Int(code))))); \(remedy)"
    }
  }

  private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
    var parts = tm()
    guard ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
    return Date(timeIntervalSince1970: TimeInterval(timegm(&parts)))
  }

  private static func text(_ name: OpaquePointer?) -> String {
    guard let memory = BIO_new(BIO_s_mem()) else { return "" }
    defer { BIO_free(memory) }
    let form = XN_FLAG_SEP_COMMA_PLUS | XN_FLAG_DN_REV
    let characters = ASN1_STRFLGS_ESC_2253 | ASN1_STRFLGS_ESC_CTRL | ASN1_STRFLGS_UTF8_CONVERT
    let count = X509_NAME_print_ex(memory, name, 0, UInt(form | characters))
    guard count > 0 else { return "" }
    return String(unsafeUninitializedCapacity: Int(count)) { max(0, Int(BIO_read(memory, $0.baseAddress, count))) }
  }
}
