/// The parts of a STUN or TURN URL (RFC 7064, 7065).
struct ICEServerURL: Equatable {
  enum Scheme: String { case stun, turn, turns }

  let scheme: Scheme
  let host: String
  let port: UInt16
  let isTCP: Bool

  /// nil for what is not such a URL.
  init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let scheme = Scheme(rawValue: parts[0].lowercased()) else { return nil }
    let pieces = parts[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let authority = pieces.first, let (host, port) = Self.split(String(authority)) else { return nil }
    self.scheme = scheme
    self.host = host
    self.port = port ?? (scheme == .turns ? 5349 : 3478)
    let transport = pieces.dropFirst().first
    isTCP = scheme == .turns ? transport != "transport=udp" : transport == "transport=tcp"
  }

  /// By TLS, or by DTLS where it is not TCP.
  var isSecure: Bool { scheme == .turns }

  private static func split(_ authority: String) -> (String, UInt16?)? {
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      let rest = authority[authority.index(after: end)...]
      let host = String(authority[authority.index(after: authority.startIndex)..<end])
      return rest.isEmpty ? (host, nil) : UInt16(rest.dropFirst()).map { (host, $0) }
    }
    let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
    switch parts.count {
    case 1: return parts[0].isEmpty ? nil : (String(parts[0]), nil)
    case 2: return UInt16(parts[1]).map { (String(parts[0]), $0) }
    default: return nil
    }
  }
}
