import CSRTP
import Glibc
import MediaCore

/// The SRTP profiles we take, by their DTLS numbers (RFC 5764, 4.1.2; RFC 7714, 14.2).
enum SRTPProfile: UInt {
  case aes128CounterSHA1Tag80 = 1
  case aeadAES128GCM = 7
  case aeadAES256GCM = 8

  init?(id: UInt) { self.init(rawValue: id) }

  var keyLength: Int { self == .aeadAES256GCM ? 32 : 16 }
  var saltLength: Int { self == .aes128CounterSHA1Tag80 ? 14 : 12 }
  var materialLength: Int { 2 * (keyLength + saltLength) }
  fileprivate var library: srtp_profile_t { srtp_profile_t(UInt32(rawValue)) }
}

/// Encrypts one way and decrypts the other, in place. Lives on its loop.
final class SRTPSession {
  private var inbound: srtp_t?
  private var outbound: srtp_t?

  /// It fails where others of the process were first, such as GStreamer's SRTP plugin when plugins are scanned in this
  /// process. The library works then all the same, and whether it does is seen when a session is made.
  private static let initialization = srtp_init()
  /// Packets that may come late and still be told from replays: a second of a fast stream.
  private static let replayWindow: UInt = 2048

  init?(keys: SRTPKeys, isClient: Bool) {
    _ = Self.initialization
    guard let profile = SRTPProfile(id: keys.profile), keys.material.count == profile.materialLength
    else { return nil }
    // RFC 5764, 4.2: client key, server key, client salt, server salt.
    let (key, salt) = (profile.keyLength, profile.saltLength)
    let material = keys.material
    let client = Array(material[0..<key] + material[(2 * key)..<(2 * key + salt)])
    let server = Array(material[key..<(2 * key)] + material[(2 * key + salt)...])
    outbound = Self.makeSession(profile, key: isClient ? client : server, direction: ssrc_any_outbound)
    inbound = Self.makeSession(profile, key: isClient ? server : client, direction: ssrc_any_inbound)
    guard inbound != nil, outbound != nil else { return nil }
  }

  deinit {
    if let inbound { srtp_dealloc(inbound) }
    if let outbound { srtp_dealloc(outbound) }
  }

  private static func makeSession(_ profile: SRTPProfile, key: [UInt8], direction: srtp_ssrc_type_t) -> srtp_t? {
    var key = key
    var session: srtp_t?
    let status = key.withUnsafeMutableBufferPointer { key in
      var policy = srtp_policy_t()
      srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, profile.library)
      srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, profile.library)
      policy.ssrc.type = direction
      policy.key = key.baseAddress
      policy.window_size = replayWindow
      policy.allow_repeat_tx = 1
      return srtp_create(&session, &policy)
    }
    return status == srtp_err_status_ok ? session : nil
  }

  /// Decrypts the buffer in place and sets its length; false when it does not authenticate or came before.
  func unprotect(_ buffer: PacketBuffer, isRTCP: Bool) -> Bool {
    var count = Int32(buffer.count)
    let status = buffer.withUnsafeMutableBytes { bytes in
      isRTCP
        ? srtp_unprotect_rtcp(inbound, bytes.baseAddress, &count) : srtp_unprotect(inbound, bytes.baseAddress, &count)
    }
    guard status == srtp_err_status_ok, count >= 0 else { return false }
    buffer.count = Int(count)
    return true
  }

  /// Lets go of what is kept for a source that sends no more: libsrtp keeps something for each that ever sent, in a list
  /// that it looks through for every packet. One that went on all the same would not be understood once its 16-bit numbers
  /// have begun anew (RFC 3711, 3.3.1).
  func forget(_ source: SSRC) {
    // In network order, unlike all its other functions.
    srtp_remove_stream(inbound, source.rawValue.bigEndian)
  }

  /// Encrypts `count` bytes at the start of `bytes`, which has `PacketBuffer.trailer` spare bytes behind them; the
  /// new length, or nil.
  func protect(_ bytes: UnsafeMutableRawPointer, count: Int, isRTCP: Bool) -> Int? {
    var length = Int32(count)
    let status =
      isRTCP ? srtp_protect_rtcp(outbound, bytes, &length) : srtp_protect(outbound, bytes, &length)
    return status == srtp_err_status_ok ? Int(length) : nil
  }
}
