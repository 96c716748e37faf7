import Foundation
import LiveKitProtocol

// Infos and headers say the same: one to people, the other on the wire.

extension TextStreamInfo {
  init(_ header: Livekit_DataStream.Header, _ text: Livekit_DataStream.TextHeader) {
    id = header.streamID
    topic = header.topic
    timestamp = header.date
    totalLength = header.length
    attributes = header.attributes
    mimeType = header.mimeType
    operationType = OperationType(rawValue: text.operationType.rawValue) ?? .create
    version = Int(text.version)
    replyToStreamID = text.replyToStreamID.isEmpty ? nil : text.replyToStreamID
    attachedStreamIDs = text.attachedStreamIds
    generated = text.generated
  }
}

extension ByteStreamInfo {
  init(_ header: Livekit_DataStream.Header, _ bytes: Livekit_DataStream.ByteHeader) {
    id = header.streamID
    topic = header.topic
    timestamp = header.date
    totalLength = header.length
    attributes = header.attributes
    mimeType = header.mimeType
    name = bytes.name.isEmpty ? nil : bytes.name
  }
}

extension Livekit_DataStream.Header {
  fileprivate var date: Date { Date(milliseconds: timestamp) }
  fileprivate var length: Int? { hasTotalLength ? Int(clamping: totalLength) : nil }

  /// - Parameter totalLength: in bytes; nil where it is not known.
  init(_ options: StreamTextOptions, totalLength: Int?) {
    self.init(options.topic, options.attributes, options.id, mimeType: "text/plain", totalLength)
    textHeader.operationType = .create
    textHeader.version = Int32(clamping: options.version)
    textHeader.attachedStreamIds = options.attachedStreamIDs
    textHeader.replyToStreamID = options.replyToStreamID ?? ""
  }

  init(_ options: StreamByteOptions) {
    self.init(
      options.topic, options.attributes, options.id, mimeType: options.mimeType ?? MimeType.any, options.totalSize)
    byteHeader.name = options.name ?? ""
  }

  private init(
    _ topic: String, _ attributes: [String: String], _ id: String?, mimeType: String, _ totalLength: Int?
  ) {
    self.init()
    (self.topic, self.attributes, self.mimeType) = (topic, attributes, mimeType)
    streamID = id ?? UUID().uuidString
    timestamp = Int64(Date().timeIntervalSince1970 * 1000)
    if let totalLength { self.totalLength = UInt64(clamping: totalLength) }
  }
}

/// What a file is, by its suffix.
enum MimeType {
  static let any = "application/octet-stream"

  private static let known = [
    "txt": "text/plain", "html": "text/html", "css": "text/css", "csv": "text/csv", "md": "text/markdown",
    "vtt": "text/vtt", "json": "application/json", "xml": "application/xml", "pdf": "application/pdf",
    "zip": "application/zip", "gz": "application/gzip", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
    "gif": "image/gif", "webp": "image/webp", "svg": "image/svg+xml", "mp4": "video/mp4", "webm": "video/webm",
    "mkv": "video/x-matroska", "mov": "video/quicktime", "mp3": "audio/mpeg", "ogg": "audio/ogg", "wav": "audio/wav",
    "m4a": "audio/mp4", "flac": "audio/flac",
  ]

  static func of(_ file: URL) -> String { known[file.pathExtension.lowercased()] ?? any }
}

extension Date {
  /// As others send it, in milliseconds since 1970, within what can be reckoned with: between the years 1 and 4000.
  init(milliseconds: Int64) {
    let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    self = min(max(date, .distantPast), .distantFuture)
  }
}
