public import MediaCore

/// What offer and answer agreed on for one m-line.
public struct NegotiatedSection: Equatable, Sendable {
  /// A media format and, where agreed, the payload type that repairs it.
  public struct Format: Equatable, Sendable {
    /// As the answer has it.
    public var codec: Codec
    /// What retransmissions of it bear; nil where none are agreed on.
    public var rtx: PayloadType?
    /// What its packets bear.
    public var payloadType: PayloadType { codec.payloadType }
  }

  /// Position of the m-line.
  public var index: Int
  /// The name of the section; empty where it has none.
  public var mid: String
  /// What the section carries.
  public var kind: MediaSection.Kind
  /// False when the section is rejected; the rest then says nothing.
  public var isAccepted: Bool
  /// Seen from this side.
  public var direction: Direction
  /// The formats except RTX, RED among them, in the order of preference.
  public var formats: [Format]
  /// Those that both sides know.
  public var headerExtensions: [HeaderExtension]
  /// What the other side sends: its stream and track, sources, FID groups and rids.
  public var remoteMsid: MediaStreamID?
  /// The sources that the other side announced.
  public var remoteSources: [SourceDescription]
  /// Which of those belong together.
  public var remoteSourceGroups: [SourceGroup]
  /// The layers that the other side sends.
  public var remoteRids: [String]

  /// The format of a payload type, also of one that stands for RTX.
  public func format(_ payloadType: PayloadType) -> Format? {
    formats.first { $0.payloadType == payloadType || $0.rtx == payloadType }
  }

  /// The id under which packets have a header extension; nil when it was not agreed on.
  public func extensionID(_ uri: String) -> UInt8? {
    headerExtensions.first { $0.uri == uri }.flatMap { UInt8(exactly: $0.id) }
  }

  /// `answer` decides; `remote` is the one of the two sections that the other side wrote.
  init(index: Int, answer: MediaSection, remote: MediaSection, direction: Direction) {
    self.index = index
    mid = answer.mid ?? remote.mid ?? ""
    kind = answer.kind
    isAccepted = !answer.isRejected
    self.direction = direction
    formats = Self.formats(answer.codecs)
    headerExtensions = answer.headerExtensions
    remoteMsid = remote.msid
    remoteSources = remote.sources
    remoteSourceGroups = remote.sourceGroups
    remoteRids = remote.rids.filter { $0.direction == .send }.map(\.id)
  }

  private static func formats(_ codecs: [Codec]) -> [Format] {
    codecs.filter { !$0.isRTX }.map { codec in
      Format(codec: codec, rtx: codecs.first { $0.associatedPayloadType == codec.payloadType }?.payloadType)
    }
  }
}
