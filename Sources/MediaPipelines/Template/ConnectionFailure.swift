import GStreamerKit
import MediaCore
import PipelineTemplates

/// Why a server cannot be reached, in a person's words: what GStreamer's elements mean by theirs. Pure.
package struct ConnectionFailure: Error, CustomStringConvertible {
  /// Host and port are no secrets.
  let message: String
  /// In GStreamer's words.
  private let cause: PipelineError

  /// What GStreamer says.
  package var description: String { "\(cause)" }

  /// - Returns: nil for any other error, and for what waits for callers itself.
  init?(_ error: PipelineError, in template: FilledTemplate) {
    let properties = template.elements.flatMap(\.properties)
    let location = properties.first { $0.variable?.name == "location" }?.value
    // With other addresses in the text nobody knows which one is meant.
    let isOnly = properties.count { Destination(location: $0.value).isLive } == 1
    guard [.output, .capture].contains(template.kind), isOnly, let location,
      Destination(location: location).srtValue(of: "mode") != "listener", let server = Server(location),
      let message = server.message(of: error)
    else { return nil }
    (self.message, cause) = (message, error)
  }
}

/// The server of an address.
private struct Server {
  let scheme: String
  let host: String
  let port: String?
  /// Whether the address asks it for something in its query.
  let hasQuery: Bool

  init?(_ location: String) {
    let destination = Destination(location: location)
    guard destination.isLive, let scheme = destination.scheme, let host = destination.values["host"] else { return nil }
    (self.scheme, self.host, hasQuery) = (scheme, host, location.contains("?"))
    port = destination.values["port"] ?? Self.usualPorts[scheme]
  }

  private static let usualPorts = ["rtmp": "1935", "rtmps": "443", "http": "80", "https": "443", "rtsp": "554"]

  private var place: String {
    port.map { "\(host.asHost):\($0)" } ?? host.asHost
  }

  func message(of error: PipelineError) -> String? {
    let said = "\(error.message)\n\(error.debug ?? "")"
    func says(_ words: String...) -> Bool { words.contains { said.contains($0) } }
    if says("Error resolving", "Failed to resolve host") { return "the name \(host) cannot be resolved" }
    if says("No route to host", "Network is unreachable") { return "nothing answers at \(place): no way leads there" }
    if says("Connection refused") { return "nothing answers at \(place)" }
    if says("Failed to connect: Socket I/O timed out") { return "what is at \(place) does not answer as \(scheme)" }
    // SRT says no more of a server that refuses.
    if says("SRT socket: Connection timeout", "SRT socket: Connection does not exist") {
      return "nothing answers at \(place)\(hasQuery ? ", or it refuses what the address asks for" : "")"
    }
    // Nor do these tell one reason from another.
    if says("Failed to connect. (") { return "nothing answers at \(place), or there is no such host" }
    if scheme.hasPrefix("rtsp"), says("allow more transport protocols") {
      return "what is at \(place) gives nothing by these protocols: set `protocols` to udp, or begin the address with "
        + "rtspu://"
    }
    if says("SoupHTTPSrc"), says("reason error") { return "nothing answers at \(place), or it has hung up" }
    return nil
  }
}
