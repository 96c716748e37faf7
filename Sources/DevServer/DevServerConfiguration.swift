public import LiveKitProtocol
public import Logging
public import PeerTransport

/// How a development server listens and whom it lets in.
public struct DevServerConfiguration: Sendable {
  /// Address or name to listen on, for signalling and media; loopback unless told otherwise. `0.0.0.0` and `::` stand for
  /// all addresses of the machine, `localhost` for those of loopback.
  public var host: String
  /// 0 takes any free port.
  public var port: Int
  /// What tokens are to be issued by.
  public var apiKey: String
  /// What tokens are to be signed with.
  public var apiSecret: String
  /// How often clients are to send a ping, in seconds, and how long a pong may take.
  public var pingInterval: Int32 = 10
  /// In seconds: how long a pong may take before clients are to count the connection as lost.
  public var pingTimeout: Int32 = 20
  /// How long a client that has lost its signalling connection may take to come back before it counts as gone.
  public var resumeWindow = Duration.seconds(10)
  /// Whether subscribers are to turn frames, if they can (`urn:3gpp:video-orientation`). LiveKit's server leaves it to
  /// the publishers.
  public var passesOrientation = false
  /// STUN and TURN servers that clients are told of.
  public var iceServers: [ICEServer] = []
  /// Addresses of the machine that have media; known once the server listens.
  var mediaAddresses: [String] = []
  /// Told what happens on the connections of media, at debug level.
  public var logger = Logger(label: "mediabridge.dev-server")

  /// Told of each request, by the identity that makes it; on the server's thread.
  public var onRequest: @Sendable (String, Livekit_SignalRequest) -> Void = { _, _ in }

  /// The defaults are those of `livekit-server --dev`, on loopback.
  public init(
    host: String = "127.0.0.1", port: Int = 7880, apiKey: String = "devkey", apiSecret: String = "secret"
  ) {
    self.host = host
    self.port = port
    self.apiKey = apiKey
    self.apiSecret = apiSecret
  }
}
