public import DevServer
import Foundation
public import LiveKitProtocol
import MediaBridge

/// A development server in this process with synthetic participants in one room.
public final class SyntheticRoom: Sendable {
  public static let name = "test"
  public let server: DevServer
  public let url: String
  private let publishers: [CapturePublisher]

  private init(server: DevServer, url: String, publishers: [CapturePublisher]) {
    self.server = server
    self.url = url
    self.publishers = publishers
  }

  /// - Parameters:
  ///   - codecs: of the participants' pictures, by identity.
  ///   - frequencies: of the participants' tones in Hz, by identity; 440 where there is none.
  ///   - onRequest: told what the server is asked for, and by whom.
  public static func start(
    codecs: [String: String] = ["alice": "vp8"], frequencies: [String: Int] = [:],
    onRequest: @escaping @Sendable (String, Livekit_SignalRequest) -> Void = { _, _ in }
  ) async throws -> SyntheticRoom {
    var configuration = DevServerConfiguration(port: 0)
    configuration.onRequest = onRequest
    let server = DevServer(configuration: configuration)
    let url = "ws://127.0.0.1:\(try await server.start())"
    var publishers: [CapturePublisher] = []
    for (identity, codec) in codecs.sorted(by: { $0.key < $1.key }) {
      let publisher = CapturePublisher.synthetic(
        codec: codec, values: ["text": identity, "frequency": String(frequencies[identity] ?? 440)])
      var grant = VideoGrant(room: name, roomJoin: true)
      grant.canPublish = true
      try await publisher.connect(url: url, token: try await token(identity, grant))
      publishers.append(publisher)
    }
    return SyntheticRoom(server: server, url: url, publishers: publishers)
  }

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
