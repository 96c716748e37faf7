/// Our side of the one transport that carries the bundle.
public struct LocalTransport: Equatable, Sendable {
  public var iceUfrag: String
  public var icePwd: String
  public var fingerprint: Fingerprint
  /// Our DTLS role when the offer leaves it to us (`actpass`): `.active` unless there is a reason (RFC 8842, 5.3).
  public var preferredSetup: Setup

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
