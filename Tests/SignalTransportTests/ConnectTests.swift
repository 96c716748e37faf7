import BridgeTesting
import LiveKitProtocol
import MediaCore
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import SignalTransport

@Suite("Connecting", .serialized, .timeLimit(.minutes(2)))
struct ConnectTests {
  @Test func aJoinArrivesAndTheTokenIsOnlyInAHeader() async throws {
    try await ScriptedServer.with(.webSocket { $0.join() }) { server async throws in
      let connection = try await server.connector(token: "head.claims.signature").connect()
      var responses = connection.responses.makeAsyncIterator()
      #expect(await responses.next()?.join.participant.sid == "PA_me")
      await connection.close()
      #expect(await responses.next() == nil)
      #expect(connection.closeReason == nil, "this side ended it")
      let request = try #require(server.requests.first)
      #expect(request.headers["Authorization"] == ["Bearer head.claims.signature"])
      #expect(request.uri.hasPrefix("/rtc?") && !request.uri.contains("claims"))
      try await eventually { server.openConnections == 0 }
    }
  }

  @Test func requestsArriveInOrderAndBeforeTheClose() async throws {
    try await ScriptedServer.with(.webSocket { $0.join() }) { server async throws in
      let connection = try await server.connector().connect()
      for number in 0..<100 {
        var request = Livekit_SignalRequest()
        request.mute.sid = "TR_\(number)"
        connection.send(request)
      }
      await connection.close()
      try await eventually { server.messages.count == 100 }
      #expect(server.messages.map(\.mute.sid) == (0..<100).map { "TR_\($0)" })
    }
  }

  @Test func aRefusalCarriesTheReasonOfTheValidation() async throws {
    let answers: [String: (status: HTTPResponseStatus, body: String)] = [
      "/rtc": (.unauthorized, ""), "/rtc/validate": (.unauthorized, "invalid token: expired\n"),
    ]
    try await ScriptedServer.with(.http(answers)) { server async throws in
      let failure = try await server.connector().failure()
      #expect(failure == .refused(status: 401, reason: "invalid token: expired"))
      #expect(
        failure?.description
          == "the server refused the token: invalid token: expired; check API key, secret, room and expiry")
      #expect(server.requests.map { $0.uri.prefix { $0 != "?" } } == ["/rtc", "/rtc/validate"])
      try await eventually { server.openConnections == 0 }
    }
  }

  @Test func aReasonCannotWriteToTheTerminal() async throws {
    let body = "\u{1b}[2Jno\u{7}" + String(repeating: "x", count: 3000) + "\r\nsecond line"
    let answers: [String: (status: HTTPResponseStatus, body: String)] = [
      "/rtc": (.forbidden, ""), "/rtc/validate": (.forbidden, body),
    ]
    try await ScriptedServer.with(.http(answers)) { server async throws in
      let text = try #require(try await server.connector().failure()?.description)
      #expect(text.hasPrefix("the token does not allow this: [2Jnoxxx"))
      #expect(text.utf8.count < 300 && text.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }
  }

  @Test(
    arguments: [
      (["/rtc": (.notFound, "")], .notLiveKit("S")),
      (["/rtc": (.ok, "<html>"), "/rtc/validate": (.ok, "<html>")], .notLiveKit("S")),
      (
        ["/rtc": (.notFound, ""), "/rtc/validate": (.notFound, "requested room does not exist")],
        .refused(status: 404, reason: "requested room does not exist")
      ),
      // LiveKit's server validates no more than the token.
      (
        ["/rtc": (.internalServerError, ""), "/rtc/validate": (.ok, "success")],
        .refused(status: 500, reason: "it takes the token, so perhaps the room is full (max_participants)")
      ),
      // A proxy fails for other reasons, such as a server that starts.
      (
        ["/rtc": (.serviceUnavailable, ""), "/rtc/validate": (.ok, "success")],
        .refused(status: 503, reason: "no reason given")
      ),
      // A proxy that does not pass on what a WebSocket needs.
      (["/rtc": (.notFound, ""), "/rtc/validate": (.ok, "success")], .refused(status: 426, reason: "HTTP 404")),
      (
        ["/rtc": (.badGateway, ""), "/rtc/validate": (.badGateway, "")],
        .refused(status: 502, reason: "no reason given")
      ),
      (
        ["/rtc": (.movedPermanently, ""), "/rtc/validate": (.movedPermanently, "")],
        .refused(status: 301, reason: "no reason given")
      ),
    ] as [([String: (status: HTTPResponseStatus, body: String)], SignalError)])
  func anAnswerThatIsNoUpgradeIsExplained(
    answers: [String: (status: HTTPResponseStatus, body: String)], expected: SignalError
  ) async throws {
    try await ScriptedServer.with(.http(answers)) { server async throws in
      let failure = try await server.connector().failure()
      if case .notLiveKit = expected {
        #expect(failure == .notLiveKit("127.0.0.1:\(server.port)"))
      } else {
        #expect(failure == expected)
      }
    }
  }

  @Test func silenceIsBoundedAndLeavesNothingOpen() async throws {
    try await ScriptedServer.with(.bytes(nil, closes: false)) { server async throws in
      let start = MediaTime.now
      let failure = try await server.connector(timeout: .milliseconds(300)).failure()
      #expect(failure == .timedOut("127.0.0.1:\(server.port)"))
      #expect((MediaTime.now - start).seconds < 10)
      try await eventually { server.openConnections == 0 }
    }
  }

  @Test func whoGivesUpLeavesNothingOpen() async throws {
    try await ScriptedServer.with(.bytes(nil, closes: false)) { server async throws in
      let connector = try server.connector()
      let attempt = Task { await connector.failure() }
      try await eventually { server.openConnections == 1 }
      let start = MediaTime.now
      attempt.cancel()
      #expect(await attempt.value != nil)
      #expect((MediaTime.now - start).seconds < 10)
      try await eventually { server.openConnections == 0 }
    }
  }

  @Test func whoHasGivenUpOpensNothing() async throws {
    try await ScriptedServer.with(.bytes(nil, closes: false)) { server async throws in
      let connector = try server.connector()
      let attempt = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await connector.failure()
      }
      #expect(await attempt.value != nil)
      try await eventually { server.openConnections == 0 }
    }
  }

  @Test func aValidationWithoutAnAnswerDoesNotHideTheRefusal() async throws {
    let answers: [String: (status: HTTPResponseStatus, body: String)] = [
      "/rtc": (.forbidden, ""), "/rtc/validate": (ScriptedServer.silence, ""),
    ]
    try await ScriptedServer.with(.http(answers)) { server async throws in
      #expect(
        try await server.connector(timeout: .seconds(3)).failure() == .refused(status: 403, reason: "no reason given"))
      try await eventually { server.openConnections == 0 }
    }
  }

  @Test func aServerThatClosesWithoutAnAnswerIsNotATimeout() async throws {
    try await ScriptedServer.with(.bytes(nil, closes: true)) { server async throws in
      let failure = try await server.connector().failure()
      #expect(failure == .lost("127.0.0.1:\(server.port)", "it was closed before it answered"))
    }
  }

  @Test(arguments: [
    "SSH-2.0-OpenSSH_9.2\r\n", "\u{0}\u{1}\u{2}\u{3}", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: no\r\n\r\n",
  ]) func whatSpeaksSomethingElseIsNotLiveKit(answer: String) async throws {
    try await ScriptedServer.with(.bytes(Array(answer.utf8), closes: false)) { server async throws in
      #expect(try await server.connector().failure() == .notLiveKit("127.0.0.1:\(server.port)"))
      try await eventually { server.openConnections == 0 }
    }
  }

  @Test func nobodyThere() async throws {
    let server = try await ScriptedServer(.http([:]))
    await server.stop()
    let failure = try await server.connector().failure()
    #expect(failure == .connectionRefused("127.0.0.1:\(server.port)"))
    #expect(failure?.description.contains("nothing answers at 127.0.0.1:\(server.port)") == true)
  }

  /// NIO ends the process for a promise that nobody keeps.
  @Test func aServerThatIsGoneWhenAskedForTheReason() async throws {
    let server = try await ScriptedServer(.http([:]))
    await server.stop()
    let client = PlainHTTP(
      bootstrap: ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton),
      url: try SignalURL("ws://127.0.0.1:\(server.port)"), prepare: { _ in })
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/rtc/validate")
    await #expect(throws: (any Error).self) { try await client.get(head, until: .now() + .seconds(20)) }
  }

  @Test func aTokenThatIsNoneGoesNowhere() async throws {
    try await ScriptedServer.with(.webSocket { $0.join() }) { server async throws in
      for token in ["", "two words", "a.b.c\r\nX-Evil: 1"] {
        #expect(try await server.connector(token: token).failure() == .malformedToken)
      }
      #expect(server.acceptedConnections == 0)
    }
  }
}

@Suite struct SignalURLTests {
  /// LiveKit's server reads the reason to choose other ways for media.
  @Test func aSessionThatGoesOnSaysWhatWasLost() {
    let resumed = SignalQuery(autoSubscribe: true, resumedSid: "PA_1", reconnectReason: .subscriberFailed)
    #expect(resumed.encoded.hasSuffix("&reconnect=1&sid=PA_1&reconnect_reason=3"))
    let joined = SignalQuery(autoSubscribe: true, reconnectReason: .subscriberFailed)
    #expect(!joined.encoded.contains("reconnect"))
  }

  /// By this other clients call methods by streams, put short texts into one packet, and compress.
  @Test func whatOtherClientsMaySendIsAnnounced() {
    let query = SignalQuery(autoSubscribe: true).encoded
    #expect(query.contains("&client_protocol=2&capabilities=CAP_COMPRESSION_DEFLATE_RAW&"))
  }

  @Test(arguments: ["ws://127.0.0.1:99999", "wss://host:65536/path", "http://[::1]:70000", "ws://host:0"])
  func aPortThatCannotBeIsNamed(text: String) {
    #expect {
      _ = try SignalURL(text)
    } throws: { error in
      guard case .invalidPort(let port, text) = error as? SignalError else { return false }
      return "\(error)".contains("port \(port) ") && "\(error)".contains("65535") && "\(error)".contains(text)
    }
  }

  @Test(arguments: [
    "", "host", "host:7880", "ftp://host", "ws://", "ws://:7880", "ws://host:port", "ws://ho st", "wss://[]",
  ])
  func whatIsNoAddressIsRefused(text: String) {
    #expect(throws: SignalError.invalidURL(text)) { try SignalURL(text) }
  }

  @Test func addressesAreTakenApart() throws {
    let plain = try SignalURL("ws://localhost")
    #expect(plain.port == 80 && !plain.isSecure && plain.isLoopback && plain.basePath == "")
    let secure = try SignalURL("https://example.org/livekit/")
    #expect(secure.port == 443 && secure.isSecure && !secure.isLoopback && secure.basePath == "/livekit")
    let six = try SignalURL("ws://[::1]:7880")
    #expect(six.host == "::1" && six.server == "[::1]:7880" && six.isLoopback)
  }

  /// LiveKit's server says `invalid token: TOKEN, error: REASON`.
  @Test func aTokenThatTheServerRepeatsIsNotShown() {
    let said = "invalid token: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln-_Q, error: token is expired (exp)"
    #expect(SignalError.shown(said) == "invalid token: …, error: token is expired (exp)")
    #expect(SignalError.shown(String(repeating: "eyJ.", count: 100_000)) == "…")
    #expect(SignalError.shown("the room is full") == "the room is full")
  }
}
