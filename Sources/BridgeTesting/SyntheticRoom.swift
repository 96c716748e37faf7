public import DevServer
import Foundation
public import LiveKitProtocol
public import MediaBridge

/// A development server in this process with synthetic participants in one room.
public final class SyntheticRoom: Sendable {
  public static let name = "test"
  public let server: DevServer
  public let url: String
  public let port: Int
  private let publishers: [CapturePublisher]

  private init(server: DevServer, port: Int, publishers: [CapturePublisher]) {
    self.server = server
    self.port = port
    url = Self.url(port)
    self.publishers = publishers
  }

  /// - Parameters:
  ///   - codecs: of the participants' pictures, by identity.
  ///   - frequencies: of the participants' tones in Hz, by identity; 440 where there is none.
  ///   - port: any that is free, unless it is given.
  ///   - onRequest: told what the server is asked for, and by whom.
  public static func start(
    codecs: [String: String] = ["alice": "vp8"], frequencies: [String: Int] = [:], port: Int = 0,
    onRequest: @escaping @Sendable (String, Livekit_SignalRequest) -> Void = { _, _ in }
  ) async throws -> SyntheticRoom {
    var configuration = DevServerConfiguration(port: port)
    configuration.onRequest = onRequest
    let server = DevServer(configuration: configuration)
    let port = try await server.start()
    var publishers: [CapturePublisher] = []
    for (identity, codec) in codecs.sorted(by: { $0.key < $1.key }) {
      publishers.append(
        try await join(identity, codec: codec, frequency: frequencies[identity] ?? 440, url: url(port)))
    }
    return SyntheticRoom(server: server, port: port, publishers: publishers)
  }

  /// Lets one more synthetic participant in, whom the caller disconnects.
  public func join(_ identity: String) async throws -> CapturePublisher {
    try await Self.join(identity, codec: "vp8", frequency: 440, url: url)
  }

  private static func join(
    _ identity: String, codec: String, frequency: Int, url: String
  ) async throws -> CapturePublisher {
    let publisher = CapturePublisher.synthetic(
      codec: codec, values: ["text": identity, "frequency": String(frequency)])
    var grant = VideoGrant(room: name, roomJoin: true)
    grant.canPublish = true
    try await publisher.connect(url: url, token: try await token(identity, grant))
    return publisher
  }

  private static func url(_ port: Int) -> String { "ws://127.0.0.1:\(port)" }

  /// Returns when nothing of it is left.
  public func stop() async {
    for publisher in publishers { await publisher.disconnect() }
    await server.stop()
  }

  /// - Parameter lifetime: seconds.
  public static func token(
    _ identity: String, _ grant: VideoGrant? = nil, validFor lifetime: Double = 3600
  ) async throws -> String {
    let grant = grant ?? .recorder(room: name)
    return try await AccessToken(apiKey: "devkey", identity: identity, grant: grant, validFor: lifetime, now: Date())
      .signed(secret: "secret")
  }
}
