import ArgumentParser
import Egress
import Foundation
import LiveKitProtocol
import MediaBridge

/// The room to join and the right to: the same for every command.
struct RoomArguments: ParsableArguments {
  @Option(help: ArgumentHelp("Server address, ws://… or wss://… [$LIVEKIT_URL]", valueName: "url"))
  var url: String?

  @Option(
    help: """
      Access token that names room and identity; that of the environment gives way to a key or --dev, and where it is for \
      another room or identity than --room and --identity to the key of the environment [$LIVEKIT_TOKEN]
      """)
  var token: String?

  @Option(help: "API key to make a token with [$LIVEKIT_API_KEY]")
  var apiKey: String?

  @Option(help: "Its secret [$LIVEKIT_API_SECRET]; better in the environment, where other users cannot read it")
  var apiSecret: String?

  @Option(help: "Room to join, when the token is made here")
  var room: String?

  @Option(
    help: """
      Identity to join with, when the token is made here; nobody else may have it, since whoever is there with it is sent \
      out of the room
      """)
  var identity: String?

  @Flag(help: "Short for the development server: ws://localhost:7880 with devkey and secret")
  var dev = false

  @Option(help: PipelineArguments.help)
  var pipelines: String?

  /// More than the library's: nobody sits beside a recording of hours while a server or a router is started again.
  @Option(
    help: """
      How often to try to bring a lost connection back before the room is given up; fifty, as without it, go on \
      for 5 minutes at least, ten for 45 s
      """, transform: count(of:))
  var reconnectAttempts = 50

  @Option(
    help: ArgumentHelp(
      "A STUN or TURN server of your own in place of those that the LiveKit server names, such as "
        + "turns:turn.example.org:443; again for further ones", valueName: "url"))
  var iceServer: [String] = []
  @Option(help: ArgumentHelp("User name for the TURN servers of --ice-server", valueName: "name"))
  var iceUsername: String?
  @Option(help: ArgumentHelp("Password for the TURN servers of --ice-server", valueName: "password"))
  var iceCredential: String?
  @Flag(help: "Use TURN servers for all media, also where a direct connection is possible") var relayOnly = false

  @Flag(help: "JSON lines instead of text")
  var json = false

  @Flag(
    name: .shortAndLong,
    help: """
      Tell the steps of connecting, and what is chosen and why, on standard error; GST_DEBUG=3 in the environment shows \
      what GStreamer does
      """)
  var verbose = false

  /// Here, because ArgumentParser shows the usage of the command that is meant only for what this throws.
  func validate() throws {
    try PipelineArguments.check(pipelines)
    let texts = [
      ("room", room), ("identity", identity), ("token", token), ("api-key", apiKey), ("api-secret", apiSecret),
    ]
    for (name, value) in texts where value?.isEmpty == true {
      throw ValidationError("--\(name) is empty; give a value, or leave it out")
    }
    try checkRelays()
    if let token = knownToken { try check(token) }
  }

  /// For each command that joins a room.
  /// - Throws: nothing says where that is, or with what right.
  func checkAccess() throws {
    _ = try serverURL()
    if !hasToken { _ = try keyAndRoom() }
  }

  /// What is no address of a relay, or of no use without one, would leave media without its way.
  private func checkRelays() throws {
    let schemes = ["stun:", "turn:", "turns:"]
    if let wrong = iceServer.first(where: { !schemes.contains(where: $0.lowercased().hasPrefix) }) {
      throw ValidationError("--ice-server \(wrong): write stun:HOST:PORT, turn:HOST:PORT or turns:HOST:PORT")
    }
    guard iceServer.isEmpty else { return }
    let given = [("--ice-username", iceUsername != nil), ("--ice-credential", iceCredential != nil)]
    if let option = given.first(where: \.1)?.0 {
      throw ValidationError("\(option) is for a server of your own: give --ice-server, too")
    }
  }

  /// The token to join with; nil where one is made here. One of the environment gives way to what is given by hand.
  private var knownToken: String? {
    if let token { return token }
    guard apiKey == nil, apiSecret == nil, !dev, let token = setting(nil, "LIVEKIT_TOKEN") else { return nil }
    let hasKeys = setting(nil, "LIVEKIT_API_KEY") != nil && setting(nil, "LIVEKIT_API_SECRET") != nil
    return hasKeys && contradiction(TokenClaims(of: token)) != nil ? nil : token
  }

  /// Whether what it joins with is a token that was given, and no key.
  var hasToken: Bool { knownToken != nil }

  private func setting(_ given: String?, _ name: String, dev developmentValue: String? = nil) -> String? {
    if let given { return given }
    if dev, let developmentValue { return developmentValue }
    let value = ProcessInfo.processInfo.environment[name]
    return value.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// What the command tells people and machines; what the library logs goes to standard error from here on.
  func console() -> Console {
    ConsoleLog.start(isVerbose: verbose)
    return Console(isJSON: json, judgesCommandLine: true)
  }

  var connectOptions: ConnectOptions {
    let own = IceServer(urls: iceServer, username: iceUsername, credential: iceCredential)
    return ConnectOptions(
      reconnectAttempts: reconnectAttempts, iceServers: iceServer.isEmpty ? [] : [own],
      iceTransportPolicy: relayOnly ? .relay : .all)
  }

  func serverURL() throws -> String {
    guard let url = setting(url, "LIVEKIT_URL", dev: "ws://localhost:7880") else {
      throw ValidationError("no server: give --url, set LIVEKIT_URL, or use --dev for the development server")
    }
    return url
  }

  /// The token given, or one made of key and secret: a hidden recorder's unless told otherwise.
  func accessToken(grant: ((String) -> VideoGrant)? = nil) throws -> String {
    if let knownToken { return knownToken }
    let (key, secret, room) = try keyAndRoom()
    let name = identity ?? "mediabridge-\(UInt32.random(in: 0...(.max)))"
    let token = AccessToken(
      apiKey: key, identity: name, grant: (grant ?? VideoGrant.recorder)(room), validFor: 6 * 3600, now: Date())
    return try token.signed(secret: secret)
  }

  /// - Parameter sendsMessages: whether the recorder that it is for may send some.
  func accessToken(sendsMessages: Bool) throws -> String {
    try accessToken(grant: sendsMessages ? { VideoGrant.replier(room: $0) } : nil)
  }

  private func keyAndRoom() throws -> (key: String, secret: String, room: String) {
    let keys = try APIKeys(
      setting(apiKey, "LIVEKIT_API_KEY", dev: "devkey"), setting(apiSecret, "LIVEKIT_API_SECRET", dev: "secret"),
      orElse: "no access: give --token, or --api-key and --api-secret (or set LIVEKIT_TOKEN, or LIVEKIT_API_KEY and "
        + "LIVEKIT_API_SECRET)")
    guard let room else { throw ValidationError("no room: give --room with the room's name") }
    return (keys.key, keys.secret, room)
  }

  /// A token holds its room and its identity: others asked for at the same time would be passed over in silence.
  private func check(_ known: String) throws {
    guard let (option, asked, granted) = contradiction(TokenClaims(of: known)) else { return }
    let (name, advice) =
      token == nil
      ? ("the token of LIVEKIT_TOKEN", "unset LIVEKIT_TOKEN, or give --api-key and --api-secret")
      : ("the token", "or use another token")
    throw ValidationError(
      "--\(option) \(asked): \(name) is for \(option) '\(granted)'; leave out --\(option), \(advice)")
  }

  /// What is asked for that a token has otherwise; nil where all fits, as far as it says.
  private func contradiction(_ claims: TokenClaims?) -> (option: String, asked: String, granted: String)? {
    let all = [("identity", identity, claims?.identity), ("room", room, claims?.room)]
    for case (let option, let asked?, let granted?) in all where asked != granted { return (option, asked, granted) }
    return nil
  }

  /// As far as it is known before the room is joined.
  var roomName: String? { room ?? knownToken.flatMap(TokenClaims.init)?.room }

  /// Refuses to join as one of those whose media is wanted: a room has each identity once, and who comes last stays.
  /// - Parameter participants: identities, and patterns of them.
  func check(participants: [String]) throws {
    if participants.contains("") { throw ValidationError("--participant is empty; give a value, or leave it out") }
    let claims = knownToken.flatMap(TokenClaims.init)
    guard let own = claims == nil ? identity : claims?.identity else { return }
    // A pattern is for whoever else is there.
    guard let name = participants.first(where: { !NamePattern.isPattern($0) && $0 == own }) else { return }
    let (whose, advice) =
      identity == nil
      ? ("the token of '\(own)'", "use the token of another identity") : ("--identity \(own)", "leave out --identity")
    throw ValidationError(
      "--participant \(name) and \(whose) exclude each other: who joins with an identity sends out of the room who has "
        + "it; \(advice)")
  }

  /// - Parameters:
  ///   - adaptiveStream: most programs have no renderers whose size could decide.
  ///   - dynacast: of one that publishes: layers that nobody receives are not encoded.
  ///   - playbackValues: of one that plays the audio.
  func roomOptions(
    autoSubscribe: Bool = true, adaptiveStream: Bool = false, dynacast: Bool = false,
    receiveValues: [String: String] = [:], playbackValues: [String: String]? = nil
  ) -> RoomOptions {
    RoomOptions(
      autoSubscribe: autoSubscribe, adaptiveStream: adaptiveStream,
      audioPlayback: playbackValues == nil ? .off : .automatic, dynacast: dynacast, pipelineFolder: pipelines,
      receiveValues: receiveValues, playbackValues: playbackValues ?? [:])
  }
}
