import LiveKitProtocol

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
    var content = ""
    fileprivate var decoder = TextDecoder()
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
  private var streams = IncomingStreams<Int>()
  private var texts: [Int: Text] = [:]
  private var count = 0

  mutating func open(_ header: Livekit_DataStream.Header, from sender: String) {
    guard let topic = Topic(rawValue: header.topic), case .textHeader(let text) = header.contentHeader else { return }
    count += 1
    guard streams.open(header, from: sender, to: count) else { return }
    texts[count] = Text(topic: topic, sender: sender, info: TextStreamInfo(header, text))
  }

  /// - Returns: the text, where there is more of it.
  mutating func take(_ chunk: Livekit_DataStream.Chunk, from sender: String) -> News? {
    switch streams.take(chunk, from: sender) {
    case .piece(let piece, let key):
      guard var text = texts[key], let more = text.decoder.add(piece),
        text.content.utf8.count + more.utf8.count <= Self.limit
      else {
        streams.close(chunk.streamID, from: sender)
        texts[key] = nil
        return nil
      }
      text.content += more
      texts[key] = text
      return more.isEmpty ? nil : .grown(text)
    case .end(_, let key): texts[key] = nil
    case .nothing: break
    }
    return nil
  }

  /// - Returns: the text, where it is whole; one that is not is forgotten.
  mutating func end(_ trailer: Livekit_DataStream.Trailer, from sender: String) -> News? {
    guard case .end(let fault, let key) = streams.end(trailer, from: sender),
      let text = texts.removeValue(forKey: key), fault == nil, text.decoder.isWhole
    else { return nil }
    return .whole(text, attributes: text.info.attributes.merging(trailer.attributes) { $1 })
  }

  /// - Parameter sender: who has left; nil for the end of the session.
  mutating func cut(from sender: String?) {
    for key in streams.removeAll(from: sender) { texts[key] = nil }
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
    // What is final is told when it is whole; what is not was told as it came.
    guard isFinal == isWhole else { return nil }
    return (attributes["lk.segment_id"] ?? text.info.id, text, isFinal, attributes["lk.transcribed_track_id"])
  }

  typealias Text = ReceivedTexts.Text
}
