import COpenSSL
import CShims
import Glibc
import SDP

/// The self-signed P-256 certificate of this process, made once: peers know it by its fingerprint only (RFC 8827).
///
/// `@unchecked Sendable`: OpenSSL's key and certificate are read-only after `init`, and their counts are atomic.
final class Certificate: @unchecked Sendable {
  static let shared = Certificate()

  let key: OpaquePointer
  let x509: OpaquePointer
  let fingerprint: Fingerprint

  private init() {
    guard let key = shim_generate_p256(), let x509 = X509_new() else { preconditionFailure("OpenSSL has no P-256") }
    var serial: UInt64 = 0
    withUnsafeMutableBytes(of: &serial) { _ = RAND_bytes($0.baseAddress!.assumingMemoryBound(to: UInt8.self), 7) }
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), serial | 1)
    X509_set_version(x509, 2)
    X509_gmtime_adj(X509_getm_notBefore(x509), -86_400)
    X509_gmtime_adj(X509_getm_notAfter(x509), 30 * 86_400)
    let name = X509_get_subject_name(x509)
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, "mediabridge", -1, -1, 0)
    X509_set_issuer_name(x509, name)
    X509_set_pubkey(x509, key)
    let size = X509_sign(x509, key, EVP_sha256())
    precondition(size > 0, "OpenSSL cannot sign with P-256")
    self.key = key
    self.x509 = x509
    fingerprint = Fingerprint(
      algorithm: "sha-256", value: Self.hash(of: x509, algorithm: "sha-256") ?? "")
  }

  /// The digest of a certificate as SDP writes it; nil for an algorithm that RFC 8122 does not name.
  static func hash(of x509: OpaquePointer, algorithm: String) -> String? {
    let digest: OpaquePointer?
    switch algorithm.lowercased() {
    case "sha-1": digest = EVP_sha1()
    case "sha-224": digest = EVP_sha224()
    case "sha-256": digest = EVP_sha256()
    case "sha-384": digest = EVP_sha384()
    case "sha-512": digest = EVP_sha512()
    default: return nil
    }
    var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard X509_digest(x509, digest, &bytes, &count) == 1 else { return nil }
    return bytes.prefix(Int(count)).map { byte in
      let text = String(byte, radix: 16, uppercase: true)
      return text.count == 1 ? "0" + text : text
    }.joined(separator: ":")
  }
}
