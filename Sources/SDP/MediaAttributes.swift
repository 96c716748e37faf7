public import MediaCore

/// One RTP header extension (RFC 8285, 5): `extmap:ID[/DIRECTION] URI [ATTRIBUTES]`.
public struct HeaderExtension: Equatable, Sendable {
  /// 1…14 for the one-byte form, up to 255 for the two-byte form; above that an offer's wish (RFC 8285, 5).
  public var id: UInt16
  /// What the element says; see `HeaderExtensionURI`.
  public var uri: String
  /// Who may send it; nil as the section's direction.
  public var direction: Direction?
  /// What followed the URI.
  public var attributes: String?

  /// - Parameter attributes: what follows the URI; no extension that we know has any.
  public init(id: UInt16, uri: String, direction: Direction? = nil, attributes: String? = nil) {
    self.id = id
    self.uri = uri
    self.direction = direction
    self.attributes = attributes
  }
}

/// The stream and track of `a=msid` (RFC 8830, 2). LiveKit writes `PARTICIPANT_SID|TRACK_SID` and `TRACK_SID`.
public struct MediaStreamID: Hashable, Sendable {
  /// Tracks of one stream are to be played in step.
  public var stream: String
  /// Nil where the peer names the stream only.
  public var track: String?

  /// Both are written as they are: they must be free of spaces.
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
  /// The stream of RTP packets.
  public var ssrc: SSRC
  /// `cname`, `msid` and what else was written.
  public var attributes: [FormatParameter]

  /// - Parameter cname: the name that all sources of one peer share (RFC 3550, 6.5.1).
  public init(ssrc: SSRC, cname: String? = nil, msid: MediaStreamID? = nil) {
    self.ssrc = ssrc
    attributes = []
    if let cname { attributes.append(FormatParameter(name: "cname", value: cname)) }
    if let msid { attributes.append(FormatParameter(name: "msid", value: msid.text)) }
  }

  /// The value of the first attribute of that name; nil without one.
  public func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
  /// The name that all sources of one peer share.
  public var cname: String? { attribute("cname") }
  /// The stream and track, as older peers write them here.
  public var msid: MediaStreamID? { attribute("msid").flatMap { MediaStreamID(parsing: Substring($0)) } }
}

/// Sources that belong together (RFC 5576, 4.2): `FID` is media and its RTX source, `SIM` the layers of a simulcast.
public struct SourceGroup: Equatable, Sendable {
  /// `FID`, `SIM` or what else was written.
  public var semantics: String
  /// In the order that the semantics give a meaning to: of `FID` the media first.
  public var ssrcs: [SSRC]

  /// - Parameter ssrcs: of `FID` the media's source, then that of its retransmissions.
  public init(semantics: String, ssrcs: [SSRC]) {
    self.semantics = semantics
    self.ssrcs = ssrcs
  }
}

/// An RTP stream named by an identifier instead of its SSRC (RFC 8851, 4).
public struct RestrictionID: Equatable, Sendable {
  /// Seen from whoever wrote the description.
  public enum Direction: String, Sendable {
    /// The stream is sent.
    case send
    /// The stream is taken.
    case recv
  }

  /// Letters and digits, such as `q`, `h` and `f` for LiveKit's layers.
  public var id: String
  /// Seen from whoever wrote the description.
  public var direction: Direction
  /// `pt=96;max-width=1280`, as written.
  public var restrictions: String?

  /// - Parameter restrictions: `pt=96;max-width=1280`, as it is to be written.
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
  /// One of the forms in which a stream may be sent.
  public struct Alternative: Equatable, Sendable {
    /// The identifier of its `a=rid` line.
    public var rid: String
    /// Written as `~rid`.
    public var isPaused: Bool

    /// - Parameter isPaused: announced, and not sent for now.
    public init(rid: String, isPaused: Bool = false) {
      self.rid = rid
      self.isPaused = isPaused
    }
  }

  /// The streams that are sent.
  public var send: [[Alternative]]
  /// The streams that are taken.
  public var recv: [[Alternative]]

  /// Empty lists are not written.
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
  /// `AS`, `TIAS` or what else was written.
  public var type: String
  /// In the unit of `type`.
  public var value: UInt64

  /// - Parameter value: kilobits a second for `AS`, bits a second for `TIAS`.
  public init(type: String, value: UInt64) {
    self.type = type
    self.value = value
  }
}
