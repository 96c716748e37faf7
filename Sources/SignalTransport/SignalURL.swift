import Foundation
import MediaCore

/// The address of a LiveKit server and what is asked there.
public struct SignalURL: Sendable, Equatable {
  /// A name or an address, that of IPv6 without brackets.
  public let host: String
  /// 443 or 80 where the text has none.
  public let port: Int
  /// Whether it is reached by TLS.
  public let isSecure: Bool
  /// What stands before `/rtc`; empty or starting with a slash.
  public let basePath: String

  /// Takes `ws`, `wss`, `http` and `https` addresses.
  public init(_ text: String) throws(SignalError) {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
      ["ws", "wss", "http", "https"].contains(scheme), let host = parts.encodedHost, !["", "[]"].contains(host)
    else { throw .invalidURL(text) }
    if let port = parts.port, !(1...65_535).contains(port) { throw .invalidPort(port, url: text) }
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    isSecure = scheme == "wss" || scheme == "https"
    port = parts.port ?? (isSecure ? 443 : 80)
    let path = parts.percentEncodedPath
    basePath = path.hasSuffix("/") ? String(path.dropLast()) : path
  }

  /// Host and port, for people.
  public var server: String { "\(authority):\(port)" }
  /// The host as it stands in an address.
  var authority: String { host.asHost }
  /// A server on this machine is reached through loopback, where ICE looks only when told to.
  public var isLoopback: Bool { host == "localhost" || host.hasPrefix("127.") || host == "::1" }

  /// Path and query of the join or its validation.
  func path(_ endpoint: String, _ query: SignalQuery) -> String { "\(basePath)/\(endpoint)?\(query.encoded)" }
}

/// What was lost, as a server is told that goes on with a session (LiveKit's `ReconnectReason`). Where media is lost
/// soon after it was connected the server changes to ways that more networks let through.
public enum ReconnectReason: Int, Sendable {
  /// Something else.
  case unknown = 0
  /// The signalling connection.
  case signalDisconnected = 1
  /// The connection on which the client sends media.
  case publisherFailed = 2
  /// The one on which it receives media.
  case subscriberFailed = 3
}

/// What a client says of itself when it joins.
public struct SignalQuery: Sendable, Equatable {
  /// Whether the server is to subscribe to every track by itself.
  public var autoSubscribe: Bool
  /// Whether this client tells which sizes it shows.
  public var adaptiveStream: Bool
  /// The participant's SID when a lost connection is resumed.
  public var resumedSid: String?
  /// What was lost; told only with `resumedSid`.
  public var reconnectReason: ReconnectReason
  /// Name and version of the program, which is a header of the request.
  public var userAgent: String

  /// - Parameter userAgent: seen by servers and proxies.
  public init(
    autoSubscribe: Bool, adaptiveStream: Bool = false, resumedSid: String? = nil,
    reconnectReason: ReconnectReason = .unknown, userAgent: String = "mediabridge"
  ) {
    self.autoSubscribe = autoSubscribe
    self.adaptiveStream = adaptiveStream
    self.resumedSid = resumedSid
    self.reconnectReason = reconnectReason
    self.userAgent = userAgent
  }

  /// The one of the newest Swift SDK, in which the server offers the subscriber's connection. Who announces 17 reads
  /// packet trailers.
  static let protocolVersion = 16
  /// What other clients may send to this one (LiveKit's `client_protocol`): calls of methods as streams, and streams of
  /// one packet.
  private static let clientProtocol = 2
  /// What they may send besides: streams that are compressed.
  private static let capabilities = "CAP_COMPRESSION_DEFLATE_RAW"
  /// The SDK that we behave like and its version. By these two a server decides what a client can do: a Swift client
  /// older than 1.0.5 gets no ICE over TCP, and an unknown one no track that changes its codec.
  private static let sdk = (name: "swift", version: "2.0.0")

  var encoded: String {
    var items = [
      URLQueryItem(name: "protocol", value: String(Self.protocolVersion)),
      URLQueryItem(name: "client_protocol", value: String(Self.clientProtocol)),
      URLQueryItem(name: "capabilities", value: Self.capabilities),
      URLQueryItem(name: "auto_subscribe", value: autoSubscribe ? "1" : "0"),
      URLQueryItem(name: "adaptive_stream", value: adaptiveStream ? "1" : "0"),
      URLQueryItem(name: "sdk", value: Self.sdk.name),
      URLQueryItem(name: "os", value: "linux"),
      URLQueryItem(name: "version", value: Self.sdk.version),
    ]
    if let resumedSid {
      items += [
        URLQueryItem(name: "reconnect", value: "1"), URLQueryItem(name: "sid", value: resumedSid),
        URLQueryItem(name: "reconnect_reason", value: String(reconnectReason.rawValue)),
      ]
    }
    var components = URLComponents()
    components.queryItems = items
    return components.percentEncodedQuery ?? ""
  }
}
