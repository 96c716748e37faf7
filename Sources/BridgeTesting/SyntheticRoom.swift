public import DevServer
import Foundation
public import LiveKitProtocol
import MediaBridge

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
      let publisher = CapturePublisher.synthetic(
        codec: codec, values: ["text": identity, "frequency": String(frequencies[identity] ?? 440)])
      var grant = VideoGrant(room: name, roomJoin: true)
      grant.canPublish = true
      try await publisher.connect(url: url(port), token: try await token(identity, grant))
      publishers.append(publisher)
    }
    return SyntheticRoom(server: server, port: port, publishers: publishers)
  }

  private static func url(_ port: Int) -> String { "ws://127.0.0.1:\(port)" }

  /// Returns when nothing of it is left.
  public func stop() async {
    for publisher in publishers { await publisher.disconnect() }
    await server.stop()
  }

  public static func token(_ identity: String, _ grant: VideoGrant? = nil) async throws -> String {
    let grant = grant ?? .recorder(room: name)
    return try await AccessToken(apiKey: "devkey", identity: identity, grant: grant, validFor: 3600, now: Date())
      .signed(secret: "secret")
  }
}
