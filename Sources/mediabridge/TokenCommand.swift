import ArgumentParser
import Foundation
import LiveKitProtocol

struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Make access tokens.", subcommands: [Create.self])

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create", abstract: "Print an access token for a room.",
      usage: "mediabridge token create [<options>] --room <room> --identity <identity>")

    @Option(help: "API key [$LIVEKIT_API_KEY]") var apiKey: String?
    @Option(help: "Its secret [$LIVEKIT_API_SECRET]") var apiSecret: String?
    @Flag(help: "Use the development server's key and secret") var dev = false
    @Option(help: "Room the token is for") var room: String
    @Option(help: "Identity of its holder; unique in the room") var identity: String
    @Option(help: "Name to show") var name: String?
    @Option(help: "How long it is valid, such as 30m; 6h by default", transform: duration(of:)) var validFor: Duration =
      .seconds(6 * 3600)
    @Flag(help: "Its holder may not publish") var noPublish = false
    @Flag(help: "Its holder may not subscribe") var noSubscribe = false
    @Flag(help: "The others do not see its holder") var hidden = false
    @Flag(help: "Its holder is a recorder") var recorder = false

    func validate() throws {
      _ = try keys()
      for (name, value) in [("room", room), ("identity", identity)] where value.isEmpty {
        throw ValidationError("--\(name) is empty; give the name that the token is for")
      }
      guard validFor > .zero else { throw ValidationError("--valid-for 0: the token would have expired already") }
    }

    private func keys() throws -> APIKeys {
      let environment = ProcessInfo.processInfo.environment
      let key = apiKey ?? (dev ? "devkey" : environment["LIVEKIT_API_KEY"])
      let secret = apiSecret ?? (dev ? "secret" : environment["LIVEKIT_API_SECRET"])
      return try APIKeys(
        key?.isEmpty == false ? key : nil, secret?.isEmpty == false ? secret : nil,
        orElse:
          "no key: give --api-key and --api-secret (or set LIVEKIT_API_KEY and LIVEKIT_API_SECRET), or --dev for the "
          + "development server")
    }

    func run() async throws {
      let keys = try keys()
      var grant = VideoGrant(room: room, roomJoin: true)
      grant.canPublish = !noPublish
      grant.canPublishData = !noPublish
      grant.canSubscribe = !noSubscribe
      grant.hidden = hidden ? true : nil
      grant.recorder = recorder ? true : nil
      var token = AccessToken(
        apiKey: keys.key, identity: identity, grant: grant, validFor: Format.seconds(validFor), now: Date())
      token.name = name
      try Terminal.shared.copy(token.signed(secret: keys.secret))
    }
  }
}
