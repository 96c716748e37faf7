package import DevServer
package import Foundation
package import LiveKitProtocol
import MediaCore

/// A server on a port of its own, and the clients that joined it.
package struct RunningServer: Sendable {
  package let server: DevServer
  package let port: Int
  package var url: String { "ws://127.0.0.1:\(port)" }
  let clients = Locked<[RoomClient]>([])

  static func start() async throws -> RunningServer {
    let server = DevServer(configuration: DevServerConfiguration(port: 0, apiKey: "key", apiSecret: "a secret"))
    return RunningServer(server: server, port: try await server.start())
  }

  func stop() async {
    let clients = clients.withLock { clients in
      defer { clients = [] }
      return clients
    }
    for client in clients { await client.close() }
    await server.stop()
  }

  package func token(
    _ identity: String, _ grant: VideoGrant, key: String = "key", secret: String = "a secret",
    lifetime: TimeInterval = 60
  ) throws -> String {
    let token = AccessToken(apiKey: key, identity: identity, grant: grant, validFor: lifetime, now: Date())
    return try token.signed(secret: secret)
  }

  /// Runs `body` with a server, and ends it and its clients whatever happens.
  package static func with(_ body: (RunningServer) async throws -> Void) async throws {
    let server = try await start()
    do {
      try await body(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }
}
