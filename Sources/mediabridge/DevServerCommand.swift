import ArgumentParser
import DevServer
import Foundation
import LiveKitProtocol
import MediaCore
import NIOCore

struct DevServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dev-server", abstract: "Run a small LiveKit-compatible room server, for development and tests only.",
    usage: "mediabridge dev-server [<options>]")

  @Option(help: "Address or name to listen on, for signalling and media; 0.0.0.0 for all of this machine's") var host =
    "127.0.0.1"
  @Option(help: "Port for signalling, 7880 unless given; 0 takes a free one", transform: count(of:)) var port = 7880
  @Option(help: "API key of the tokens it takes") var apiKey = "devkey"
  @Option(help: "Secret of the tokens it takes") var apiSecret = "secret"
  @Option(help: ArgumentHelp("STUN or TURN server that clients are told of", visibility: .hidden))
  var iceServer: [String] = []
  @Option(help: ArgumentHelp("User name for the TURN servers", visibility: .hidden)) var iceUsername = ""
  @Option(help: ArgumentHelp("Password for the TURN servers", visibility: .hidden)) var iceCredential = ""
  @Flag(
    help: ArgumentHelp("Leave it to subscribers to turn frames, other than LiveKit's server", visibility: .hidden))
  var passOrientation = false
  @Option(
    help: ArgumentHelp("How long who has lost the signalling may take to come back", visibility: .hidden),
    transform: duration(of:))
  var resumeWindow: Duration = DevServerConfiguration().resumeWindow
  @Flag(help: "JSON lines instead of text") var json = false

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port \(port): a port lies between 0 and 65535") }
    if apiKey.isEmpty || apiSecret.isEmpty { throw ValidationError("--api-key and --api-secret cannot be empty") }
  }

  func run() async throws {
    ConsoleLog.start(isVerbose: false)
    let console = Console(isJSON: json)
    var configuration = DevServerConfiguration(host: host, port: port, apiKey: apiKey, apiSecret: apiSecret)
    (configuration.passesOrientation, configuration.resumeWindow) = (passOrientation, resumeWindow)
    if !iceServer.isEmpty {
      configuration.iceServers = [.init(urls: iceServer, username: iceUsername, credential: iceCredential)]
    }
    if json {
      configuration.onRequest = { identity, request in
        guard case .trackSetting(let asked) = request.message else { return }
        console.event("asked", asked.fields(of: identity))
      }
    }
    let server = DevServer(configuration: configuration)
    let bound: Int
    do { bound = try await server.start() } catch {
      console.fail(ServerFailure(description: "cannot listen on \(host):\(port): \(Self.explain(error))"))
      throw ExitCode.failure
    }
    let url = "ws://\(host.asHost):\(bound)"
    console.say("Development server listening on \(url) (not for production). Ctrl-C ends it.")
    console.event("listening", ["url": url, "port": bound])
    await Interruption().wait(atMost: nil)
    await server.stop()
  }
}

extension DevServerCommand {
  private static func explain(_ error: any Error) -> String {
    switch (error as? IOError)?.errnoCode {
    case EADDRINUSE: "something listens there already; choose another --port, or 0 for a free one"
    case EADDRNOTAVAIL: "this machine has no such address; choose another --host"
    case EACCES: "no permission for that port; choose one above 1023"
    default: error is SocketAddressError.UnknownHost ? "the name cannot be resolved; choose another --host" : "\(error)"
    }
  }
}

extension Livekit_UpdateTrackSettings {
  /// What a subscriber wants to be sent, for whoever looks at what that costs.
  fileprivate func fields(of identity: String) -> [String: Any] {
    let size: Any = width > 0 ? "\(width)x\(height)" : NSNull()
    let rate: Any = fps > 0 ? Int(fps) : NSNull()
    return ["identity": identity, "tracks": trackSids, "wanted": !disabled, "size": size, "fps": rate]
  }
}

struct ServerFailure: Error, CustomStringConvertible {
  let description: String
}
