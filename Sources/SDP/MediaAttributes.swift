public import MediaCore

/// One RTP header extension (RFC 8285, 5): `extmap:ID[/DIRECTION] URI [ATTRIBUTES]`.
public struct HeaderExtension: Equatable, Sendable {
  public var id: UInt16
  public var uri: String
  public var direction: Direction?
  /// What followed the URI.
  public var attributes: String?

  public init(id: UInt16, uri: String, direction: Direction? = nil, attributes: String? = nil) {
    self.id = id
    self.uri = uri
    self.direction = direction
    self.attributes = attributes
  }
}

/// The stream and track of `a=msid` (RFC 8830, 2). LiveKit writes `PARTICIPANT_SID|TRACK_SID` and `TRACK_SID`.
public struct MediaStreamID: Hashable, Sendable {
  public var stream: String
  public var track: String?

  public init(stream: String, track: String?) {
    self.stream = stream
    self.track = track
  }

  init?(parsing text: Substring) {
    let words = text.words()
    guard let stream = words.first else { return nil }
    self.init(stream: String(stream), track: words.count > 1 ? String(words[1]) : nil)
  }

  var text: String { track.map { "\(stream) \($0)" } ?? stream }
}

/// One source and its attributes (RFC 5576, 4.1), in the order in which they were written.
public struct SourceDescription: Equatable, Sendable {
  public var ssrc: SSRC
  public var attributes: [FormatParameter]

  public init(ssrc: SSRC, cname: String? = nil, msid: MediaStreamID? = nil) {
    self.ssrc = ssrc
    attributes = []
    if let cname { attributes.append(FormatParameter(name: "cname", value: cname)) }
    if let msid { attributes.append(FormatParameter(name: "msid", value: msid.text)) }
  }

  public func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
  public var cname: String? { attribute("cname") }
  public var msid: MediaStreamID? { attribute("msid").flatMap { MediaStreamID(parsing: Substring($0)) } }
}

/// Sources that belong together (RFC 5576, 4.2): `FID` is media and its RTX source, `SIM` the layers of a simulcast.
public struct SourceGroup: Equatable, Sendable {
  public var semantics: String
  public var ssrcs: [SSRC]

  public init(semantics: String, ssrcs: [SSRC]) {
    self.semantics = semantics
    self.ssrcs = ssrcs
  }
}

/// An RTP stream named by an identifier instead of its SSRC (RFC 8851, 4).
public struct RestrictionID: Equatable, Sendable {
  public enum Direction: String, Sendable { case send, recv }
  public var id: String
  public var direction: Direction
  /// `pt=96;max-width=1280`, as written.
  public var restrictions: String?

  public init(id: String, direction: Direction, restrictions: String? = nil) {
    self.id = id
    self.direction = direction
    self.restrictions = restrictions
  }

  init?(parsing text: Substring) {
    let words = text.words(limit: 3)
    guard words.count >= 2, let direction = Direction(rawValue: String(words[1])) else { return nil }
    self.init(id: String(words[0]), direction: direction, restrictions: words.count > 2 ? String(words[2]) : nil)
  }
}

/// The streams of a simulcast (RFC 8853, 5.1), each a list of alternatives of which the first is preferred.
public struct Simulcast: Equatable, Sendable {
  public struct Alternative: Equatable, Sendable {
    public var rid: String
    /// Written as `~rid`.
    public var isPaused: Bool

    public init(rid: String, isPaused: Bool = false) {
      self.rid = rid
      self.isPaused = isPaused
    }
  }

  public var send: [[Alternative]]
  public var recv: [[Alternative]]

  public init(send: [[Alternative]] = [], recv: [[Alternative]] = []) {
    self.send = send
    self.recv = recv
  }

  init?(parsing text: Substring) {
    self.init()
    let words = text.words()
    guard words.count == 2 || words.count == 4 else { return nil }
    for pair in stride(from: 0, to: words.count, by: 2) {
      switch words[pair] {
      case "send" where send.isEmpty: send = Self.streams(words[pair + 1])
      case "recv" where recv.isEmpty: recv = Self.streams(words[pair + 1])
      default: return nil
      }
    }
    guard send.count + recv.count >= words.count / 2 else { return nil }
  }

  private static func streams(_ list: Substring) -> [[Alternative]] {
    list.parts(separatedBy: .semicolon).map { stream in
      stream.parts(separatedBy: UInt8(ascii: ",")).compactMap { name in
        let isPaused = name.utf8.first == UInt8(ascii: "~")
        let rid = String(isPaused ? Substring(name.utf8.dropFirst()) : name)
        return rid.isEmpty ? nil : Alternative(rid: rid, isPaused: isPaused)
      }
    }
    .filter { !$0.isEmpty }
  }

  var text: String {
    [("send", send), ("recv", recv)].filter { !$0.1.isEmpty }.map { "\($0.0) \(Self.text($0.1))" }
      .joined(separator: " ")
  }

  private static func text(_ streams: [[Alternative]]) -> String {
    streams.map { $0.map { ($0.isPaused ? "~" : "") + $0.rid }.joined(separator: ",") }.joined(separator: ";")
  }
}

/// `b=AS:2000` (kilobits) or `b=TIAS:2000000` (bits per second), RFC 8866, 5.8.
public struct Bandwidth: Equatable, Sendable {
  public var type: String
  public var value: UInt64

  public init(type: String, value: UInt64) {
    self.type = type
    self.value = value
  }
}
