public import Logging
public import MediaCore
public import RTP
public import SDP

/// A STUN or TURN server of a join response.
public struct ICEServer: Sendable, Hashable {
  /// `stun:`, `turn:` or `turns:` URLs.
  public var urls: [String]
  /// For TURN; empty for STUN.
  public var username: String
  /// For TURN; empty for STUN.
  public var credential: String

  /// As the join response has them.
  public init(urls: [String], username: String = "", credential: String = "") {
    self.urls = urls
    self.username = username
    self.credential = credential
  }
}

/// The servers that help ICE to find a way.
public struct ICEServers: Sendable, Hashable {
  /// Without any only direct ways are tried.
  public var list: [ICEServer]
  /// Whether only ways through their relays are tried.
  public var isRelayOnly: Bool

  /// None unless named.
  public init(_ list: [ICEServer] = [], isRelayOnly: Bool = false) {
    (self.list, self.isRelayOnly) = (list, isRelayOnly)
  }
}

/// A way by TLS to a TURN server, as long as somebody holds it.
public protocol RelayTunnel: Sendable {
  /// Addresses of this machine with their port, one of each family: what connects there speaks to the server.
  var endpoints: [(address: String, port: UInt16)] { get }
  /// Why the newest connection to the server has failed, in words; nil where it stands, or nobody has asked for one.
  var failure: String? { get }
}

/// Opens a way by TLS to that host and port, or shares one that is open. May block; called on any thread.
public typealias RelayTunnels = @Sendable (_ host: String, _ port: UInt16) -> any RelayTunnel

/// How one transport connects.
public struct PeerConfiguration: Sendable {
  /// None unless set: then only direct ways are tried.
  public var servers = ICEServers()
  /// Addresses to gather host candidates on; empty means every interface but loopback.
  public var localAddresses: [String] = []
  /// Gathers on loopback, too. The media of a server that is reached there may be elsewhere: behind a tunnel, in a
  /// container, or at the public address that it announces.
  public var isServerOnLoopback = false
  /// For `turns:` servers, which are passed over without it.
  public var tunnels: RelayTunnels?
  /// The ICE role: true for the side that offers.
  public var isControlling: Bool
  /// How long the first connection may take before the transport has failed.
  public var connectTimeout: Duration = .seconds(15)
  /// SRTP profiles in the order of preference, by their DTLS names.
  public var srtpProfiles = ["SRTP_AEAD_AES_128_GCM", "SRTP_AES128_CM_SHA1_80"]
  /// Told the steps of connecting, at debug level.
  public var logger: Logger

  /// All else has the values that LiveKit servers expect.
  public init(isControlling: Bool, logger: Logger) { (self.isControlling, self.logger) = (isControlling, logger) }
}

/// What one side tells the other about its end of a transport.
public struct TransportParameters: Sendable, Hashable {
  /// The user name fragment (RFC 8839, 5.4).
  public var iceUfrag: String
  /// The password of the same.
  public var icePwd: String
  /// Of the certificate that DTLS will show.
  public var fingerprints: [Fingerprint]
  /// Who opens the DTLS connection.
  public var setup: Setup
  /// The peer only answers checks (RFC 8445, 2.5), so this side has to lead them.
  public var isLite = false
  /// Its description has a section for data channels; a peer answers no SCTP without one.
  public var hasDataChannels = true
  /// The media sources that its description announces, of all sections.
  public var sources: Set<SSRC> = []

  /// Values as a description has them.
  public init(
    iceUfrag: String, icePwd: String, fingerprints: [Fingerprint], setup: Setup, isLite: Bool = false,
    hasDataChannels: Bool = true
  ) {
    self.iceUfrag = iceUfrag
    self.icePwd = icePwd
    self.fingerprints = fingerprints
    self.setup = setup
    self.isLite = isLite
    self.hasDataChannels = hasDataChannels
  }
}

/// Where a transport stands.
public enum PeerState: Sendable, Equatable {
  /// Nothing has been tried.
  case new
  /// ICE, DTLS or SCTP is under way.
  case connecting
  /// Packets and messages may be sent.
  case connected
  /// Nothing comes through any more, for this reason; a restart of ICE may find another way.
  case disconnected(PeerError)
  /// It never connected, or what connected it broke; nothing comes any more.
  case failed(PeerError)
  /// `close()` was called.
  case closed
}

/// Why a transport has failed.
public enum PeerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// No candidate pair worked; the candidates of both sides that were tried, with protocol and type.
  case iceFailed(tried: String)
  /// The pair that had worked answers no more (RFC 7675); the pair.
  case consentLost(pair: String)
  /// The peer has ended the session, or its data channels alone.
  case closedByPeer
  /// Its description is not one that can be connected to; what answers an offer says nothing else.
  case unusableAnswer
  /// The handshake was refused or broken.
  case dtlsFailed(String)
  /// The certificate of the peer is not the one that its description names.
  case fingerprintMismatch
  /// No common SRTP profile.
  case noSRTPProfile
  /// SCTP was not answered, and a LiveKit server sends nothing before its data channels are open.
  case noDataChannels

  /// For people.
  public var description: String {
    switch self {
    case .iceFailed(let tried): "no ICE candidate pair connected; tried \(tried)"
    case .consentLost(let pair): "the peer answers no more on \(pair)"
    case .closedByPeer: "the peer has ended the session"
    case .unusableAnswer: "the peer's answer to what is offered cannot be used"
    case .dtlsFailed(let reason): "the DTLS handshake failed: \(reason)"
    case .fingerprintMismatch: "the peer's certificate does not match the fingerprint it announced"
    case .noSRTPProfile: "the peer offers no SRTP profile that we know"
    case .noDataChannels: "the peer did not answer the setup of data channels"
    }
  }
}

/// A data channel that is open.
public struct DataChannel: Sendable, Hashable {
  /// The SCTP stream (RFC 8832).
  public var id: UInt16
  /// Such as `_reliable` and `_lossy`, which LiveKit's servers open.
  public var label: String
}

/// Told what happens on a transport, always on its loop's thread.
public protocol PeerConnectionDelegate: AnyObject, Sendable {
  /// A media packet that authenticated; its memory is the receiver's alone, to be edited in place.
  func peerConnection(_ peer: PeerConnection, didReceive packet: RTPPacket, at time: MediaTime)
  /// The RTCP packets of one compound that authenticated.
  func peerConnection(_ peer: PeerConnection, didReceive reports: [RTCPPacket], at time: MediaTime)
  /// A local candidate as the value of an SDP attribute, without `a=`.
  func peerConnection(_ peer: PeerConnection, didGather candidate: String)
  /// The state is another one; after `failed` only `closed` follows.
  func peerConnection(_ peer: PeerConnection, didChange state: PeerState)
  /// A channel is open, by whichever side.
  func peerConnection(_ peer: PeerConnection, didOpen channel: DataChannel)
  /// One whole message, text or binary as its sender said.
  func peerConnection(_ peer: PeerConnection, didReceive message: [UInt8], isText: Bool, on channel: DataChannel)
}

extension TransportParameters {
  /// What a description says of the transport of its bundle; nil when something that is needed is missing.
  public init?(_ description: SessionDescription) {
    guard let attributes = description.bundleTransport, let ufrag = attributes.iceUfrag, let pwd = attributes.icePwd,
      !attributes.fingerprints.isEmpty
    else { return nil }
    self.init(
      iceUfrag: ufrag, icePwd: pwd, fingerprints: attributes.fingerprints, setup: attributes.setup ?? .actpass,
      isLite: description.iceLite,
      hasDataChannels: description.media.contains { $0.isDataChannels && !$0.isRejected })
    sources = Set(description.media.flatMap { $0.sources.map(\.ssrc) })
  }

  /// The same for the builders of descriptions.
  public func localTransport(preferring setup: Setup) -> LocalTransport? {
    fingerprints.first.map {
      LocalTransport(iceUfrag: iceUfrag, icePwd: icePwd, fingerprint: $0, preferredSetup: setup)
    }
  }
}
