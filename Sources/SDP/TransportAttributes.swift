/// The hash of a certificate (RFC 8122, 5), for example `sha-256` and `AB:CD:…`.
public struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
  /// Lower case.
  public var algorithm: String
  /// Upper-case hex bytes separated by colons.
  public var value: String

  /// Either may be in any case.
  public init(algorithm: String, value: String) {
    self.algorithm = algorithm.lowercased()
    self.value = value.uppercased()
  }

  /// As it stands in the attribute line.
  public var description: String { "\(algorithm) \(value)" }

  init?(parsing text: Substring) {
    let words = text.words()
    guard words.count == 2, words[1].utf8.allSatisfy(Self.isHexOrColon) else { return nil }
    self.init(algorithm: String(words[0]), value: String(words[1]))
  }

  private static func isHexOrColon(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"), .colon:
      true
    default: false
    }
  }
}

/// Who opens the DTLS connection (RFC 4145, 4; RFC 8842, 5).
public enum Setup: String, Sendable, CaseIterable {
  /// Opens it.
  case active
  /// Waits for it.
  case passive
  /// Leaves it to the other side: what offers say.
  case actpass
  /// Nobody does, for now.
  case holdconn
}

/// What an ICE and DTLS transport says about itself; stands at session level or in a media section.
public struct TransportAttributes: Equatable, Sendable {
  /// The user name fragment (RFC 8839, 5.4).
  public var iceUfrag: String?
  /// The password of the same.
  public var icePwd: String?
  /// Such as `trickle` (RFC 8839, 5.6).
  public var iceOptions: [String] = []
  /// Hashes of the certificate, each by another algorithm.
  public var fingerprints: [Fingerprint] = []
  /// Who opens the DTLS connection.
  public var setup: Setup?

  /// Nothing said.
  public init() {}

  /// Each missing value is taken from `session` (RFC 8839, 5.4; RFC 8122, 5: session-level values are defaults).
  func withFallback(_ session: TransportAttributes) -> TransportAttributes {
    var merged = self
    merged.iceUfrag = iceUfrag ?? session.iceUfrag
    merged.icePwd = icePwd ?? session.icePwd
    merged.iceOptions = iceOptions.isEmpty ? session.iceOptions : iceOptions
    merged.fingerprints = fingerprints.isEmpty ? session.fingerprints : fingerprints
    merged.setup = setup ?? session.setup
    return merged
  }
}
