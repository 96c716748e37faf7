/// An address such as `rtmp://host/app/key`, taken apart as text: one that is not written as it should be is still an
/// address, and its secrets are still secrets.
struct Address: Equatable, Sendable {
  /// In small letters.
  let scheme: String
  private let credentials: Substring?
  /// With brackets around an IPv6 address; may be empty.
  private let authority: Substring
  let port: Substring?
  /// From its first slash on.
  private let path: Substring
  private let query: Substring?

  /// - Returns: nil for what does not begin with a scheme.
  init?(_ text: String) {
    // By bytes: it is asked several times a second whether a destination is a file.
    let end = text.utf8.firstIndex { !Self.mayBeInScheme($0) } ?? text.endIndex
    let scheme = text[..<end]
    guard scheme.first?.isLetter == true, text[end...].utf8.starts(with: "://".utf8) else { return nil }
    self.scheme = scheme.lowercased()
    let rest = text[text.utf8.index(end, offsetBy: 3)...]
    let serverEnd = rest.firstIndex { "/?".contains($0) } ?? rest.endIndex
    let server = rest[..<serverEnd]
    let at = server.lastIndex(of: "@")
    credentials = at.map { server[..<$0] }
    (authority, port) = Self.split(at.map { server[server.index(after: $0)...] } ?? server)
    let mark2 = rest[serverEnd...].firstIndex(of: "?")
    path = rest[serverEnd..<(mark2 ?? rest.endIndex)]
    query = mark2.map { rest[rest.index(after: $0)...] }
  }

  /// RFC 3986, 3.1.
  private static func mayBeInScheme(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }

  private static func split(_ server: Substring) -> (Substring, Substring?) {
    guard let colon = server.lastIndex(of: ":"), !server[colon...].contains("]") else { return (server, nil) }
    return (server[..<colon], server[server.index(after: colon)...])
  }

  /// Without brackets.
  var host: String { authority.filter { $0 != "[" && $0 != "]" } }

  /// With its port and what is in front of it.
  var server: String { "\(credentials.map { "\($0)@" } ?? "")\(authority):\(port ?? "")" }

  private var isRTMP: Bool { scheme == "rtmp" || scheme == "rtmps" }

  /// RTMP's application, with the slashes around it, and the stream's key behind it, which may have a `?`.
  private var stream: (application: Substring, key: String)? {
    guard isRTMP, let slash = path.lastIndex(of: "/") else { return nil }
    let name = path[path.index(after: slash)...]
    return (path[...slash], name + (query.map { "?\($0)" } ?? ""))
  }

  /// Whether an RTMP address lacks an application or a key.
  var lacksKey: Bool {
    guard isRTMP else { return false }
    return stream.map { $0.key.isEmpty || $0.application.count < 3 } ?? true
  }

  private var parameters: [(name: Substring, value: Substring)] {
    (query ?? "").split(separator: "&").map { field in
      let equals = field.firstIndex(of: "=") ?? field.endIndex
      return (field[..<equals], field[equals...].dropFirst())
    }
  }

  /// What nobody else is to see: keys, passwords, and what stands behind a `=`, but for an SRT mode.
  /// - Parameter known: is no secret.
  func secrets(besides known: Set<String>) -> [String] {
    let fields = parameters.filter { !Self.isShown($0.name) }.map { String($0.value) }
    let key = stream.map { [$0.key, String($0.key.prefix { $0 != "?" })] } ?? (isPlaceKnown ? [] : [String(authority)])
    return (key + fields + [credentials.map(String.init)].compactMap { $0 }).filter {
      !$0.isEmpty && !known.contains($0)
    }
  }

  private static func isShown(_ parameter: Substring) -> Bool { parameter == "mode" || parameter == "latency" }

  /// Whether a host stands where hosts do: behind a word that is no scheme here it may be a key, as in `twich://KEY`.
  private var isPlaceKnown: Bool {
    Self.hosted.contains(scheme) || authority.isEmpty || port?.isEmpty == false || authority == "localhost"
      || authority.contains { ".:".contains($0) }
  }

  /// Schemes with a host behind them.
  private static let hosted: Set = [
    "rtmp", "rtmps", "srt", "udp", "rist", "rtp", "rtsp", "rtsps", "tcp", "http", "https", "ws", "wss", "s3", "gs",
    "gcs",
    "azure", "azblob", "oss",
  ]

  /// Without its secrets: of a long key both ends are shown, `{abc...xyz}`, so that it can be told from others.
  /// - Parameter known: is no secret.
  func shown(besides known: Set<String>) -> String {
    let place = isPlaceKnown ? "\(authority)\(port.map { ":\($0)" } ?? "")" : "{...}"
    let server = "\(scheme)://\(place)"
    if let stream {
      let name = stream.key.prefix { $0 != "?" }
      let isKnown = known.contains(String(name)) || FileNameTemplate.isPlaceholder(name)
      let key = isKnown ? name + (name == stream.key ? "" : "?{...}") : Substring(Self.hidden(stream.key))
      return server + stream.application + key
    }
    let fields = parameters.map {
      "\($0.name)=\(Self.isShown($0.name) || known.contains(String($0.value)) ? $0.value : "{...}")"
    }
    return server + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
  }

  /// As LiveKit's Egress hides keys, but for short ones: both ends of those would be most of them.
  private static func hidden(_ key: String) -> String {
    let shown = key.count >= 12 ? 3 : 0
    return "{\(key.prefix(shown))...\(key.suffix(shown))}"
  }
}
