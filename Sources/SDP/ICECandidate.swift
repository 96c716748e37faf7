/// A transport address at which a peer may be reached (RFC 8839, 5.1; TCP as in RFC 6544, 4.5).
public struct ICECandidate: Hashable, Sendable, CustomStringConvertible {
  /// How the address became known (RFC 8445, 5.1.1).
  public enum Kind: String, Sendable {
    /// An address of the machine's own.
    case host
    /// What a STUN server saw: the outside of a NAT.
    case srflx
    /// What the other peer saw.
    case prflx
    /// An address of a TURN server, which passes everything on.
    case relay
  }

  /// What carries the packets.
  public enum TransportProtocol: String, Sendable {
    /// One packet a datagram.
    case udp
    /// With a length before each packet (RFC 4571).
    case tcp
  }

  /// Who opens a TCP connection (RFC 6544, 4.5).
  public enum TCPType: String, Sendable {
    /// Connects.
    case active
    /// Is connected to.
    case passive
    /// Both at once.
    case so
  }

  /// The same for candidates of one kind, from one base and one server (RFC 8445, 5.1.1.3).
  public var foundation: String
  /// 1 for RTP and for everything that is multiplexed with it.
  public var component: UInt16
  /// UDP or TCP.
  public var transport: TransportProtocol
  /// Pairs with higher ones are tried first (RFC 8445, 5.1.2).
  public var priority: UInt32
  /// An IPv4 or IPv6 address or a name, which with browsers is an mDNS name ending in `.local`.
  public var address: String
  /// 0 or 9 for a TCP candidate that only connects.
  public var port: UInt16
  /// How the address became known.
  public var kind: Kind
  /// The address behind it: of a reflexive candidate its base, of a relayed one what the server saw.
  public var relatedAddress: String?
  /// The port of that.
  public var relatedPort: UInt16?
  /// Who connects; nil for UDP.
  public var tcpType: TCPType?
  /// `generation 0`, `ufrag …`, `network-cost …`, in their order.
  public var extensions: [FormatParameter] = []

  /// - Parameter component: 1, as everything is multiplexed with RTP.
  public init(
    foundation: String, component: UInt16 = 1, transport: TransportProtocol, priority: UInt32, address: String,
    port: UInt16, kind: Kind
  ) {
    self.foundation = foundation
    self.component = component
    self.transport = transport
    self.priority = priority
    self.address = address
    self.port = port
    self.kind = kind
  }

  /// Takes `candidate:…`, `a=candidate:…` or the bare value; nil for anything else, for an unknown transport or type
  /// (RFC 8839, 5.1: such candidates are passed over) and for the empty text that ends trickling.
  public init?(parsing text: String) {
    guard let words = Self.words(text), words.count >= 8, words[6] == "typ",
      let component = UInt16(words[1]), let transport = TransportProtocol(rawValue: words[2].lowercased()),
      let priority = UInt32(words[3]), let port = UInt16(words[5]), let kind = Kind(rawValue: String(words[7]))
    else { return nil }
    self.init(
      foundation: String(words[0]), component: component, transport: transport, priority: priority,
      address: String(words[4]), port: port, kind: kind)
    readExtensions(words.dropFirst(8))
  }

  /// `candidate:…`, as in an attribute line and in trickle ICE.
  public var description: String {
    var words = [
      "candidate:\(foundation)", String(component), transport.rawValue, String(priority), address, String(port), "typ",
      kind.rawValue,
    ]
    if let relatedAddress { words += ["raddr", relatedAddress] }
    if let relatedPort { words += ["rport", String(relatedPort)] }
    if let tcpType { words += ["tcptype", tcpType.rawValue] }
    for item in extensions { words += [item.name, item.value ?? ""] }
    return words.joined(separator: " ")
  }

  /// No candidate of a real peer is longer.
  private static let byteLimit = 2048

  private static func words(_ text: String) -> [Substring]? {
    guard text.utf8.count <= byteLimit, !text.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) else {
      return nil
    }
    var rest = Substring(text).trimmed
    for prefix in ["a=", "candidate:"] where rest.hasPrefix(prefix) {
      rest = Substring(rest.utf8.dropFirst(prefix.utf8.count))
    }
    return rest.words()
  }

  /// Names and values in pairs; a last name without a value is dropped.
  private mutating func readExtensions(_ words: ArraySlice<Substring>) {
    var pairs = words
    while let name = pairs.popFirst(), let value = pairs.popFirst() {
      switch name {
      case "raddr" where relatedAddress == nil: relatedAddress = String(value)
      case "rport" where relatedPort == nil: relatedPort = UInt16(value)
      case "tcptype" where tcpType == nil: tcpType = TCPType(rawValue: String(value))
      default: extensions.append(FormatParameter(name: String(name), value: String(value)))
      }
    }
  }
}
