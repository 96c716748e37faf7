import COpenSSL
import CShims
import Glibc
import MediaCore
import SDP

/// What the handshake agreed on: profile and key material for SRTP (RFC 5764).
struct SRTPKeys {
  let profile: UInt
  let material: [UInt8]
}

/// DTLS 1.2 over datagrams that the owner carries. Lives on its loop.
final class DTLSTransport {
  enum Event {
    case connected(SRTPKeys?)
    case data(UnsafeRawBufferPointer)
    case failed(PeerError)
    case closed
  }

  private let loop: TransportLoop
  private let context: OpaquePointer
  private let ssl: OpaquePointer
  private let bio: DatagramBIO
  private let fingerprints: [Fingerprint]
  private let emit: (Event) -> Void
  private var timer: LoopTimer?
  private var isConnected = false
  private var isOver = false
  /// Above every record OpenSSL can hand out (RFC 6347, 4.1).
  private var scratch = [UInt8](repeating: 0, count: 16_384)

  /// The largest UDP payload that we fill; leaves room for IPv6, TURN and a tunnel below 1,280 bytes.
  private static let mtu = 1200

  init?(
    loop: TransportLoop, isClient: Bool, profiles: [String], fingerprints: [Fingerprint],
    send: @escaping (UnsafeRawBufferPointer) -> Void, emit: @escaping (Event) -> Void
  ) {
    guard let context = SSL_CTX_new(DTLS_method()) else { return nil }
    let certificate = Certificate.shared
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(DTLS1_2_VERSION), nil)
    SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES")
    SSL_CTX_use_certificate(context, certificate.x509)
    SSL_CTX_use_PrivateKey(context, certificate.key)
    // Any certificate passes here: it is its fingerprint that counts, checked when the handshake is over.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT) { _, _ in 1 }
    guard SSL_CTX_set_tlsext_use_srtp(context, profiles.joined(separator: ":")) == 0, let ssl = SSL_new(context) else {
      SSL_CTX_free(context)
      return nil
    }
    self.loop = loop
    self.context = context
    self.ssl = ssl
    self.fingerprints = fingerprints
    self.emit = emit
    bio = DatagramBIO(send: send)
    SSL_set_bio(ssl, bio.bio, bio.bio)
    shim_ssl_set_mtu(ssl, Self.mtu)
    // OpenSSL's first second would be a second of many joins on a way that loses packets; LiveKit's server waits for 100 ms.
    DTLS_set_timer_cb(ssl) { _, last in last == 0 ? 100_000 : min(last * 2, 2_000_000) }
    isClient ? SSL_set_connect_state(ssl) : SSL_set_accept_state(ssl)
  }

  deinit {
    timer?.cancel()
    SSL_free(ssl)
    SSL_CTX_free(context)
  }

  func start() { advance() }

  func receive(_ datagram: UnsafeRawBufferPointer) {
    guard !isOver else { return }
    bio.feed(datagram)
    advance()
  }

  /// Sends application data (SCTP) as one record.
  func send(_ bytes: [UInt8]) {
    guard isConnected, !isOver else { return }
    ERR_clear_error()
    SSL_write(ssl, bytes, Int32(bytes.count))
  }

  func close() {
    guard !isOver else { return }
    isOver = true
    timer?.cancel()
    if isConnected { SSL_shutdown(ssl) }
  }

  private func advance() {
    if !isConnected && !handshake() { return }
    read()
  }

  private func handshake() -> Bool {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    if result == 1 {
      timer?.cancel()
      return finish()
    }
    let error = SSL_get_error(ssl, result)
    if error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE {
      armTimer()
    } else {
      fail(.dtlsFailed(Self.newestError))
    }
    return false
  }

  private func finish() -> Bool {
    guard isPeerKnown else {
      fail(.fingerprintMismatch)
      return false
    }
    isConnected = true
    emit(.connected(exportKeys()))
    return true
  }

  /// True when the peer's certificate has one of the announced fingerprints (RFC 8122, 5).
  private var isPeerKnown: Bool {
    guard let x509 = SSL_get1_peer_certificate(ssl) else { return false }
    defer { X509_free(x509) }
    return fingerprints.contains { announced in
      Certificate.hash(of: x509, algorithm: announced.algorithm) == announced.value.uppercased()
    }
  }

  private func exportKeys() -> SRTPKeys? {
    guard let profile = SSL_get_selected_srtp_profile(ssl) else { return nil }
    let id = UInt(profile.pointee.id)
    var material = [UInt8](repeating: 0, count: SRTPProfile(id: id)?.materialLength ?? 0)
    let label = "EXTRACTOR-dtls_srtp"
    guard !material.isEmpty,
      SSL_export_keying_material(ssl, &material, material.count, label, label.utf8.count, nil, 0, 0) == 1
    else { return nil }
    return SRTPKeys(profile: id, material: material)
  }

  private func read() {
    while !isOver {
      ERR_clear_error()
      let count = SSL_read(ssl, &scratch, Int32(scratch.count))
      guard count > 0 else {
        // Records that are not the peer's are dropped in silence, so any other error is the end as well.
        if ![SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE].contains(SSL_get_error(ssl, count)) {
          isOver = true
          emit(.closed)
        }
        return
      }
      scratch.withUnsafeBytes { emit(.data(UnsafeRawBufferPointer(rebasing: $0[..<Int(count)]))) }
    }
  }

  private func armTimer() {
    var wait = timeval()
    guard shim_dtls_get_timeout(ssl, &wait) != 0 else { return }
    timer?.cancel()
    let delay = Duration.seconds(wait.tv_sec) + .microseconds(wait.tv_usec)
    let bound = LoopBound(Weak(self), on: loop)
    timer = loop.after(delay) { bound.value.object?.timeout() }
  }

  private func timeout() {
    guard !isConnected, !isOver else { return }
    if shim_dtls_handle_timeout(ssl) < 0 { return fail(.dtlsFailed("no answer to the handshake")) }
    advance()
  }

  private func fail(_ error: PeerError) {
    isOver = true
    timer?.cancel()
    emit(.failed(error))
  }

  private static var newestError: String {
    let code = ERR_peek_last_error()
    guard code != 0, let text = ERR_reason_error_string(code) else { return "unexpected end" }
    return String(cString: text)
  }
}
