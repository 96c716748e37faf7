/// Our side of the one transport that carries the bundle.
public struct LocalTransport: Equatable, Sendable {
  /// The user name fragment of our end: at least 4 characters (RFC 8839, 5.4).
  public var iceUfrag: String
  /// The password of our end: at least 22 characters.
  public var icePwd: String
  /// Of our certificate.
  public var fingerprint: Fingerprint
  /// Our DTLS role when the offer leaves it to us (`actpass`): `.active` unless there is a reason (RFC 8842, 5.3).
  public var preferredSetup: Setup

  /// Credentials and fingerprint are those of the agent and the certificate that the peer will meet.
  public init(iceUfrag: String, icePwd: String, fingerprint: Fingerprint, preferredSetup: Setup = .active) {
    self.iceUfrag = iceUfrag
    self.icePwd = icePwd
    self.fingerprint = fingerprint
    self.preferredSetup = preferredSetup
  }

  func attributes(setup: Setup) -> TransportAttributes {
    var attributes = TransportAttributes()
    attributes.iceUfrag = iceUfrag
    attributes.icePwd = icePwd
    attributes.iceOptions = ["trickle"]
    attributes.fingerprints = [fingerprint]
    attributes.setup = setup
    return attributes
  }

  /// RFC 4145, 4.1; an offer without the attribute is treated as `actpass`.
  func setup(answering offered: Setup?) -> Setup {
    switch offered {
    case .active: .passive
    case .passive: .active
    case .actpass, .holdconn, nil: preferredSetup == .passive ? .passive : .active
    }
  }
}
