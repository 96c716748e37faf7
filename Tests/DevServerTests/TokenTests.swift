import BridgeTesting
import Foundation
import FoundationNetworking
import LiveKitProtocol
import SignalTransport
import Testing

/// Who is refused, with which status and words.
@Suite struct TokenTests {
  private func refusal(
    _ server: RunningServer, _ token: String, query: SignalQuery = SignalQuery(autoSubscribe: true)
  ) async throws -> SignalError? {
    do throws(SignalError) {
      let connection = try await SignalConnection.connect(
        to: try SignalURL("ws://127.0.0.1:\(server.port)"), token: token, query: query)
      await connection.close()
      return nil
    } catch {
      return error
    }
  }

  private func expect(
    _ server: RunningServer, _ token: String, _ status: Int, _ words: String,
    _ location: SourceLocation = #_sourceLocation
  ) async throws {
    guard case .refused(let got, let reason) = try await refusal(server, token) else {
      Issue.record("not refused", sourceLocation: location)
      return
    }
    #expect(got == status, sourceLocation: location)
    #expect(reason.contains(words), "\(reason)", sourceLocation: location)
  }

  @Test func whoIsRefused() async throws {
    let grant = VideoGrant(room: "room", roomJoin: true)
    try await RunningServer.with { server in
      try await expect(server, try server.token("a", grant, secret: "another"), 401, "signature")
      try await expect(server, try server.token("a", grant, lifetime: -60), 401, "expired")
      try await expect(server, try server.token("a", grant, key: "nobody"), 401, "invalid API key")
      try await expect(server, "no.real.token", 401, "invalid authorization token")
      try await expect(server, try server.token("a", VideoGrant(room: "room")), 401, "permissions denied")
      try await expect(server, try server.token("", grant), 400, "identity cannot be empty")
      try await expect(server, try server.token("a", VideoGrant(roomJoin: true)), 400, "no room name")
    }
  }

  @Test func theTokensRoomWins() async throws {
    try await RunningServer.with { server in
      let client = try await RoomClient.join(server, as: "a", room: "mine")
      #expect(client.log.withLock { $0.join?.room.name } == "mine")
    }
  }

  private struct Answer: Equatable {
    var status: Int
    var text: String
  }

  /// The plain HTTP side, as clients ask after a refusal and monitors ask for health.
  @Test func plainRequests() async throws {
    try await RunningServer.with { server in
      let token = try server.token("a", VideoGrant(room: "room", roomJoin: true))
      func get(_ path: String) async throws -> Answer {
        let (data, response) = try await URLSession.shared.data(
          from: URL(string: "http://127.0.0.1:\(server.port)\(path)")!)
        return Answer(
          status: (response as? HTTPURLResponse)?.statusCode ?? 0,
          text: String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines))
      }
      #expect(try await get("/rtc/validate?access_token=\(token)") == Answer(status: 200, text: "success"))
      #expect(try await get("/rtc/validate") == Answer(status: 401, text: "no permissions to access the room"))
      #expect(try await get("/rtc/validate?access_token=x").status == 401)
      #expect(try await get("/") == Answer(status: 200, text: "OK"))
      // By this clients of the newer protocol find out that they have to use `/rtc`.
      #expect(try await get("/rtc/v1?join_request=x&access_token=\(token)").status == 404)
    }
  }

  /// Otherwise a client in a browser takes a server that refuses it for one that is not there.
  @Test(arguments: [("GET", "/rtc/v1/validate", 404), ("GET", "/rtc/validate", 401), ("OPTIONS", "/rtc/validate", 204)])
  func pagesOfAnyOriginReadWhatIsAnswered(method: String, path: String, status: Int) async throws {
    try await RunningServer.with { server in
      var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(server.port)\(path)")))
      request.httpMethod = method
      let (_, response) = try await URLSession.shared.data(for: request)
      let answer = try #require(response as? HTTPURLResponse)
      #expect(answer.statusCode == status)
      #expect(answer.value(forHTTPHeaderField: "Access-Control-Allow-Origin") == "*")
    }
  }

  /// What the server has sent holds for some minutes only, and may be signed with a key that it has no more.
  @Test(arguments: ["room", "another"]) func theFirstIsTriedWhereTheNewestIsRefused(room: String) async throws {
    try await RunningServer.with { server in
      let token = try server.token("alice", VideoGrant(room: "room", roomJoin: true))
      let client = SignalClient(url: try SignalURL(server.url), token: token)
      try await client.open(SignalQuery(autoSubscribe: true))
      var (renewal, mark) = (Livekit_SignalResponse(), Livekit_SignalResponse())
      renewal.refreshToken = try server.token("alice", VideoGrant(room: room, roomJoin: true), secret: "another")
      mark.roomUpdate.room.metadata = "told"
      _ = await client.read { [renewal, mark] message in
        switch message {
        case .join: for response in [renewal, mark] { server.server.tell(response, to: "alice") }
        case .roomUpdate(let update) where update.room.metadata == "told": client.retire()
        default: break
        }
      }
      var status: Int?
      do throws(SignalError) { try await client.open(SignalQuery(autoSubscribe: true)) } catch {
        if case .refused(let refusal, _) = error { status = refusal } else { Issue.record("\(error)") }
      }
      // That of another room would lead back to the one before.
      #expect(status == (room == "room" ? nil : 401))
      await client.close()
    }
  }

  /// As LiveKit's server does it, with what the client is called by now.
  @Test func anotherTokenIsSentBeforeTheFirstExpires() async throws {
    try await RunningServer.with { server in
      // Its own is valid for a minute.
      try await Onlooker.with(server, as: "alice", grant: { $0.canUpdateOwnMetadata = true }) { alice in
        let token = try await eventually("a token") { alice.newestToken }
        #expect(token.identity == "alice" && token.video.room == "room" && token.video.canUpdateOwnMetadata == true)
        #expect(token.exp > Date().timeIntervalSince1970 + 300)
        alice.send { $0.updateMetadata.name = "Alice Liddell" }
        try await eventually("one with the new name") { alice.newestToken?.name == "Alice Liddell" }
      }
    }
  }
}
