import ArgumentParser
import DevServer
import Foundation

struct DevServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dev-server", abstract: "Run a small LiveKit-compatible room server, for development and tests only.")

  @Option(help: "Address to listen on, for signalling and media") var host = "127.0.0.1"
  @Option(help: "Port for signalling; 0 takes a free one") var port = 7880
  @Option(help: "API key of the tokens it takes") var apiKey = "devkey"
  @Option(help: "Secret of the tokens it takes") var apiSecret = "secret"
  @Flag(help: "JSON lines instead of text") var json = false

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port \(port): a port lies between 0 and 65535") }
  }

  func run() async throws {
    let console = Console(isJSON: json)
    let server = DevServer(configuration: .init(host: host, port: port, apiKey: apiKey, apiSecret: apiSecret))
    let bound: Int
    do { bound = try await server.start() } catch {
      console.fail(
        ServerFailure(description: "cannot listen on \(host):\(port): \(error); is another server running there?"))
      throw ExitCode.failure
    }
    console.say("Development server listening on ws://\(host):\(bound) (not for production). Ctrl-C ends it.")
    console.event("listening", ["url": "ws://\(host):\(bound)", "port": bound])
    await Interruption().wait(atMost: nil)
    await server.stop()
  }
}

struct ServerFailure: Error, CustomStringConvertible {
  let description: String
}
