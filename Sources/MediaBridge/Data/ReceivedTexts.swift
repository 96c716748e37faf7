import LiveKitProtocol

import struct Foundation.Data

/// The texts that everybody in a room understands alike, as they come: what is said, and what is written. They are told as
/// events, whether a program reads their topic or not. Pure.
struct ReceivedTexts {
  /// Topics of LiveKit.
  enum Topic: String {
    case transcription = "lk.transcription"
    case chat = "lk.chat"
  }

  struct Text {
    let topic: Topic
    let sender: String
    let info: TextStreamInfo
    /// What has come of it.
    private(set) var content = ""
    /// Bytes of it that were told.
    fileprivate var told = 0
    fileprivate var decoder = TextDecoder()

    fileprivate var length: Int { content.utf8.count }

    /// - Returns: whether it has grown so that it is told; nil where it cannot be read, or is too long.
    fileprivate mutating func add(_ piece: Data) -> Bool? {
      guard let more = decoder.add(piece), length + more.utf8.count <= ReceivedTexts.limit else { return nil }
      content += more
      // All of it is told each time: letter by letter that would be too much of what is long.
      guard length > told, length < ReceivedTexts.shortLength || length - told >= length / 16 else { return false }
      told = length
      return true
    }
  }

  /// What has become of a text.
  enum News {
    /// There is more of it.
    case grown(Text)
    /// It is whole.
    /// - Parameter attributes: those of its beginning, with those of its end.
    case whole(Text, attributes: [String: String])
  }

  /// Bytes of one text: what somebody says or writes at a time, and not a book.
  static let limit = 1 << 18
  /// Bytes up to which whatever is added to a text is told.
  private static let shortLength = 512
  private var streams = IncomingStreams<Int>()
  private var texts: [Int: Text] = [:]
  private var count = 0

  /// - Parameters:
  ///   - sender: whose text it is.
  ///   - origin: who really sends it, as all that follows is sent.
  mutating func open(_ header: Livekit_DataStream.Header, from sender: String, origin: String) {
    guard let topic = Topic(rawValue: header.topic), case .textHeader(let text) = header.contentHeader else { return }
    count += 1
    guard streams.open(header, from: origin, to: count) else { return }
    texts[count] = Text(topic: topic, sender: sender, info: TextStreamInfo(header, text))
  }

  /// - Returns: the text, where there is more of it.
  mutating func take(_ chunk: Livekit_DataStream.Chunk, from origin: String) -> News? {
    switch streams.take(chunk, from: origin) {
    case .piece(let piece, let key):
      guard let isNews = texts[key]?.add(piece) else {
        streams.close(chunk.streamID, from: origin)
        texts[key] = nil
        return nil
      }
      return isNews ? texts[key].map(News.grown) : nil
    case .end(_, let key): texts[key] = nil
    case .nothing: break
    }
    return nil
  }

  /// - Returns: the text, where it is whole; one that is not is forgotten.
  mutating func end(_ trailer: Livekit_DataStream.Trailer, from origin: String) -> News? {
    guard case .end(let fault, let key) = streams.end(trailer, from: origin),
      let text = texts.removeValue(forKey: key), fault == nil, text.decoder.isWhole
    else { return nil }
    return .whole(text, attributes: text.info.attributes.merging(trailer.attributes) { $1 })
  }

  /// - Parameter origin: who has left; nil for the end of the session.
  mutating func cut(from origin: String?) {
    for key in streams.removeAll(from: origin) { texts[key] = nil }
  }
}

extension ReceivedTexts.News {
  /// Of a transcription, the segment's id, its text, whether it is final, and the SID of the track that is transcribed;
  /// nil where there is nothing to tell.
  ///
  /// A sender says what is final ahead of it, or, of a text that grows while it is spoken, behind it. What says nothing of it
  /// is final once it is whole.
  var segment: (id: String, text: Text, isFinal: Bool, track: String?)? {
    let (text, attributes, isWhole) =
      switch self {
      case .grown(let text): (text, text.info.attributes, false)
      case .whole(let text, let attributes): (text, attributes, true)
      }
    guard text.topic == .transcription, !text.content.isEmpty else { return nil }
    let isFinal = attributes["lk.transcription_final"].map { ["true", "1"].contains($0.lowercased()) } ?? isWhole
    // What is final is told when it is whole; what is not was told as it came, but for its rest.
    guard isFinal == isWhole || isWhole && text.told < text.length else { return nil }
    return (attributes["lk.segment_id"] ?? text.info.id, text, isFinal, attributes["lk.transcribed_track_id"])
  }

  typealias Text = ReceivedTexts.Text
}
