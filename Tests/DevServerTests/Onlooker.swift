import BridgeTesting
import LiveKitProtocol
import SignalTransport

/// A client of signalling alone: notes what the server says, and answers no offer.
final class Onlooker: Sendable {
  /// In the order of their coming.
  let responses = Collector<Livekit_SignalResponse>()
  private let connection: SignalConnection

  /// Joins, and leaves after `body`, also when that throws.
  static func with(
    _ server: RunningServer, as identity: String, autoSubscribe: Bool = true,
    grant change: (inout VideoGrant) -> Void = { _ in }, _ body: (Onlooker) async throws -> Void
  ) async throws {
    var grant = VideoGrant(room: "room", roomJoin: true)
    change(&grant)
    try await with(server, token: try server.token(identity, grant), autoSubscribe: autoSubscribe, body)
  }

  static func with(
    _ server: RunningServer, token: String, autoSubscribe: Bool = true, _ body: (Onlooker) async throws -> Void
  ) async throws {
    let connection = try await SignalConnection.connect(
      to: try SignalURL(server.url), token: token, query: SignalQuery(autoSubscribe: autoSubscribe))
    let onlooker = Onlooker(connection)
    do {
      try await onlooker.wait { if case .join = $0 { true } else { false } }
      try await body(onlooker)
    } catch {
      await connection.close()
      throw error
    }
    await connection.close()
  }

  private init(_ connection: SignalConnection) {
    self.connection = connection
    Task { [responses] in for await response in connection.responses { responses.add(response) } }
  }

  func send(_ fill: (inout Livekit_SignalRequest) -> Void) {
    var request = Livekit_SignalRequest()
    fill(&request)
    connection.send(request)
  }

  /// Waits until the server has said something of the kind.
  func wait(for isMeant: @Sendable (Livekit_SignalResponse.OneOf_Message) -> Bool) async throws {
    try await eventually { self.responses.values.compactMap(\.message).contains(where: isMeant) }
  }

  /// Whether the room is recorded, each time that the server said so.
  var recordings: [Bool] {
    responses.values.compactMap { response -> Bool? in
      guard case .roomUpdate(let update) = response.message else { return nil }
      return update.room.activeRecording
    }
  }

  /// What the server has sent last to come back with.
  var newestToken: AccessToken? {
    connection.successor.refreshedToken.flatMap {
      try? AccessToken(verifying: $0, apiKey: "key", secret: "a secret")
    }
  }

  /// Whom the server has called a speaker, or silent again.
  var speakers: [Livekit_SpeakerInfo] { responses.values.flatMap(\.speakersChanged.speakers) }
}
