import LiveKitProtocol

public import struct Foundation.Date

/// What the sender of a stream says of it ahead of its content.
public protocol StreamInfo: Sendable {
  /// The sender's name of the stream.
  var id: String { get }
  /// Whom it concerns among those who read streams.
  var topic: String { get }
  /// When it began, by the sender's clock.
  var timestamp: Date { get }
  /// Bytes of the whole content; nil where the sender does not know.
  var totalLength: Int? { get }
  /// What the sender says beyond, by name.
  var attributes: [String: String] { get }
  /// Of the content.
  var mimeType: String { get }
}

/// What the sender of a text says of it.
public struct TextStreamInfo: StreamInfo, Hashable {
  /// What a text is to those before it.
  public enum OperationType: Int, Sendable {
    /// It is new.
    case create
    /// It takes the place of an earlier one.
    case update
    /// An earlier one is taken back.
    case delete
    /// It is a reaction to an earlier one.
    case reaction
  }

  public let id: String
  public let topic: String
  public let timestamp: Date
  public let totalLength: Int?
  public let attributes: [String: String]
  public let mimeType: String
  /// What it is to those before it.
  public let operationType: OperationType
  /// Of a text that is sent again.
  public let version: Int
  /// The id of the text that it answers; nil without.
  public let replyToStreamID: String?
  /// The ids of the byte streams that belong to it.
  public let attachedStreamIDs: [String]
  /// Whether a program has made it, such as a transcription of what was said.
  public let generated: Bool
}

/// What the sender of bytes or a file says of them.
public struct ByteStreamInfo: StreamInfo, Hashable {
  public let id: String
  public let topic: String
  public let timestamp: Date
  public let totalLength: Int?
  public let attributes: [String: String]
  public let mimeType: String
  /// Of the file, as its sender calls it: anything at all. nil without.
  public let name: String?
}

/// How a text is sent.
public struct StreamTextOptions: Sendable, Hashable {
  /// Whom it concerns among those who read streams.
  public var topic: String
  /// What is said of it beyond, by name.
  public var attributes: [String: String]
  /// Who gets it, by identity; all others in the room where it is empty.
  public var destinationIdentities: [String]
  /// nil for an id that nobody else has.
  public var id: String?
  /// Of a text that is sent again.
  public var version: Int
  /// The ids of the byte streams that belong to it.
  public var attachedStreamIDs: [String]
  /// The id of the text that it answers.
  public var replyToStreamID: String?

  /// To all, without further words.
  public init(
    topic: String, attributes: [String: String] = [:], destinationIdentities: [String] = [], id: String? = nil,
    version: Int = 0, attachedStreamIDs: [String] = [], replyToStreamID: String? = nil
  ) {
    (self.topic, self.attributes, self.destinationIdentities, self.id) = (topic, attributes, destinationIdentities, id)
    (self.version, self.attachedStreamIDs, self.replyToStreamID) = (version, attachedStreamIDs, replyToStreamID)
  }
}

/// How bytes or a file are sent.
public struct StreamByteOptions: Sendable, Hashable {
  /// Whom they concern among those who read streams.
  public var topic: String
  /// What is said of them beyond, by name.
  public var attributes: [String: String]
  /// Who gets them, by identity; all others in the room where it is empty.
  public var destinationIdentities: [String]
  /// nil for an id that nobody else has.
  public var id: String?
  /// nil for that of a file's suffix, or bytes of any kind.
  public var mimeType: String?
  /// nil for that of the file, or none.
  public var name: String?
  /// Bytes, where that is known before. `sendFile` sets it.
  public var totalSize: Int?

  /// To all, without further words.
  public init(
    topic: String, attributes: [String: String] = [:], destinationIdentities: [String] = [], id: String? = nil,
    mimeType: String? = nil, name: String? = nil, totalSize: Int? = nil
  ) {
    (self.topic, self.attributes, self.destinationIdentities, self.id) = (topic, attributes, destinationIdentities, id)
    (self.mimeType, self.name, self.totalSize) = (mimeType, name, totalSize)
  }
}
