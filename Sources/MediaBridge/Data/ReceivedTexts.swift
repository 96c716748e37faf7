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
    /// Who really sends it.
    let origin: String
    let info: TextStreamInfo
    /// What has come of it.
    private(set) var content = ""
    /// Bytes of it that were told.
    fileprivate var told = 0
    private var decoder = TextDecoder()
    private var words = TimedWords()

    fileprivate init(_ topic: Topic, from sender: String, origin: String, _ info: TextStreamInfo) {
      (self.topic, self.sender, self.origin, self.info) = (topic, sender, origin, info)
    }

    fileprivate var length: Int { content.utf8.count }
    fileprivate var isWhole: Bool { decoder.isWhole }

    /// What it says to people.
    var said: String { words.text ?? content }

    fileprivate mutating func add(_ piece: Data) -> Growth {
      guard let more = decoder.add(piece) else { return .unreadable }
      guard length + more.utf8.count <= ReceivedTexts.limit else {
        fill(with: more)
        return .tooLong
      }
      grow(by: more)
      // All of it is told each time: letter by letter that would be too much of what is long.
      guard length > told, length < ReceivedTexts.shortLength || length - told >= length / 16 else { return .little }
      told = length
      return .enough
    }

    private mutating func grow(by more: String) {
      content += more
      if topic == .transcription { words.add(more) }
    }

    /// Takes what fits, and marks the cut.
    private mutating func fill(with more: String) {
      var room = ReceivedTexts.limit - length
      let fitting = more.unicodeScalars.prefix { scalar in
        room -= UTF8.width(scalar)
        return room >= 0
      }
      grow(by: String(Substring(fitting)) + "…")
    }
  }

  /// What a piece has made of a text.
  fileprivate enum Growth {
    /// It is told once there is more.
    case little
    /// It is told.
    case enough
    case unreadable
    case tooLong
  }

  /// What has become of a text.
  enum News {
    /// There is more of it.
    case grown(Text)
    /// It is whole, or so long that it is told as far as it fits.
    /// - Parameter attributes: those of its beginning, with those of its end.
    case whole(Text, attributes: [String: String])
  }

  /// What is not told, or not all of it.
  struct Loss: Equatable {
    let sender: String
    let origin: String
    let reason: String
  }

  /// Bytes of one text: what somebody says or writes at a time, and not a book.
  static let limit = 1 << 18
  /// Bytes up to which whatever is added to a text is told.
  private static let shortLength = 512
  private var streams = IncomingStreams<Int>()
  private var texts: [Int: Text] = [:]
  private var count = 0
  private var losses: [Loss] = []
  /// Which of two ways counts.
  var ways = TranscriptionWays()

  /// - Parameters:
  ///   - sender: whose text it is.
  ///   - origin: who really sends it, as all that follows is sent.
  mutating func open(_ header: Livekit_DataStream.Header, from sender: String, origin: String) {
    guard let topic = Topic(rawValue: header.topic), case .textHeader(let text) = header.contentHeader else { return }
    if streams.isFull(for: origin), !isOpen(header.streamID, from: origin) { forgetOldest(of: origin) }
    count += 1
    guard streams.open(header, from: origin, to: count) else { return }
    texts[count] = Text(topic, from: sender, origin: origin, TextStreamInfo(header, text))
  }

  /// Programs that end none of their texts are heard all the same.
  private mutating func forgetOldest(of origin: String) {
    guard let oldest = texts.filter({ $0.value.origin == origin }).min(by: { $0.key < $1.key }) else { return }
    forget(oldest.key, "too many are open, and the oldest is given up")
  }

  private mutating func forget(_ key: Int, _ reason: String) {
    guard let text = texts.removeValue(forKey: key) else { return }
    streams.close(text.info.id, from: text.origin)
    losses.append(Loss(sender: text.sender, origin: text.origin, reason: reason))
  }

  /// What has been lost since the last call.
  mutating func takeLosses() -> [Loss] {
    defer { losses = [] }
    return losses
  }

  /// Whether more of it may be told.
  func isOpen(_ id: String, from origin: String) -> Bool { streams.isOpen(id, from: origin) }

  /// - Returns: the text, where there is more of it.
  mutating func take(_ chunk: Livekit_DataStream.Chunk, from origin: String) -> News? {
    switch streams.take(chunk, from: origin) {
    case .piece(let piece, let key): return add(piece, to: key)
    case .end(let fault, let key): lose(key, fault)
    case .nothing: break
    }
    return nil
  }

  private mutating func add(_ piece: Data, to key: Int) -> News? {
    switch texts[key]?.add(piece) {
    case .some(.enough): return texts[key].map(News.grown)
    case .some(.unreadable): forget(key, "it is no UTF-8")
    case .some(.tooLong):
      let text = texts[key]
      forget(key, "it is longer than \(Self.limit) bytes, and is told as far as that")
      return text.map { News.whole($0, attributes: $0.info.attributes) }
    case .some(.little), nil: break
    }
    return nil
  }

  /// - Returns: the text, where it is whole; one that is not is forgotten.
  mutating func end(_ trailer: Livekit_DataStream.Trailer, from origin: String) -> News? {
    guard case .end(let fault, let key) = streams.end(trailer, from: origin) else { return nil }
    guard fault == nil, let text = texts.removeValue(forKey: key) else {
      lose(key, fault)
      return nil
    }
    guard text.isWhole else {
      losses.append(Loss(sender: text.sender, origin: origin, reason: "it is no UTF-8"))
      return nil
    }
    return .whole(text, attributes: text.info.attributes.merging(trailer.attributes) { $1 })
  }

  /// Its content cannot be had.
  mutating func fail(_ id: String, from origin: String, _ fault: StreamFault) {
    if case .end(let fault, let key) = streams.fail(id, from: origin, fault) { lose(key, fault) }
  }

  private mutating func lose(_ key: Int, _ fault: StreamFault?) {
    guard let text = texts.removeValue(forKey: key) else { return }
    switch fault {
    // Its sender knows of it.
    case .stopped?, nil: break
    case let fault?:
      losses.append(Loss(sender: text.sender, origin: text.origin, reason: "\(StreamError(fault))"))
    }
  }

  /// - Parameter origin: who has left; nil for the end of the session.
  mutating func cut(from origin: String?) {
    for key in streams.removeAll(from: origin) { texts[key] = nil }
    ways.cut(from: origin)
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
    guard text.topic == .transcription, !text.said.isEmpty else { return nil }
    let isFinal = attributes["lk.transcription_final"].map { ["true", "1"].contains($0.lowercased()) } ?? isWhole
    // What is final is told when it is whole; what is not was told as it came, but for its rest.
    guard isFinal == isWhole || isWhole && text.told < text.length else { return nil }
    return (attributes["lk.segment_id"] ?? text.info.id, text, isFinal, attributes["lk.transcribed_track_id"])
  }

  typealias Text = ReceivedTexts.Text
}
