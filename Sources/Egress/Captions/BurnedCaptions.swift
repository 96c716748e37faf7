import MediaBridge
import MediaCore

/// What is said, for the frames in which it is to be read. Pure.
///
/// A segment is seen from the moment on at which it came first, grows in its place, and goes when it has been read, or its
/// speaker says the next. Of those who speak at once two are seen, and once another one has spoken their names.
struct BurnedCaptions: Sendable {
  private static let seenAtOnce = 2
  /// Where no frame asks.
  private static let mostPending = 100
  private static let mostPast = 50

  /// What has come after the moment of the newest frame, in its order.
  private var pending: [BurnedSegment] = []
  /// One of each who speaks, in the order of their beginnings.
  private var shown: [BurnedSegment] = []
  /// Those in whose place there is another one: what still comes of them is late.
  private var past: [BurnedSegment.Key] = []
  private var firstSpeaker: String?
  private var namesSpeakers = false
  private var text = ""
  /// When it is another one; nil where nothing is said.
  private var due: MediaTime?

  // MARK: What comes

  /// - Parameter now: not before that of what came earlier.
  mutating func note(_ segment: TranscriptionSegment, of speaker: Captions.Speaker, at now: MediaTime) {
    let before = (shown + pending).last { $0.speaker.identity == speaker.identity }
    var next = BurnedSegment(segment, of: speaker, at: now)
    if let before, before.key == next.key {
      next.goOn(from: before)
    } else {
      guard !next.isEmpty, !past.contains(next.key) else { return }
      if let before { forget(before) }
    }
    meet(speaker)
    next.wrap(naming: namesSpeakers)
    if pending.count >= Self.mostPending { pending.removeFirst() }
    pending.append(next)
    due = min(due ?? now, now)
  }

  private mutating func forget(_ segment: BurnedSegment) {
    if past.count >= Self.mostPast { past.removeFirst() }
    past.append(segment.key)
  }

  /// Names those who are seen, too, once another one has spoken.
  private mutating func meet(_ speaker: Captions.Speaker) {
    guard !namesSpeakers else { return }
    firstSpeaker = firstSpeaker ?? speaker.identity
    guard firstSpeaker != speaker.identity else { return }
    namesSpeakers = true
    for index in shown.indices { shown[index].wrap(naming: true) }
    for index in pending.indices { pending[index].wrap(naming: true) }
  }

  // MARK: What is seen

  /// - Parameter time: of a frame.
  /// - Returns: the lines that are seen in it; empty for none.
  mutating func text(at time: MediaTime) -> String {
    guard let due, time >= due else { return text }
    while let next = pending.first, next.newest <= time { show(pending.removeFirst()) }
    shown.removeAll { $0.end <= time }
    text = shown.flatMap { $0.lines.seen(at: time - $0.start) }.joined(separator: "\n")
    self.due = (shown.map { $0.change(after: time) } + pending.prefix(1).map(\.newest)).min()
    return text
  }

  private mutating func show(_ segment: BurnedSegment) {
    shown.removeAll { $0.speaker.identity == segment.speaker.identity }
    if shown.count >= Self.seenAtOnce, let quiet = shown.min(by: { $0.newest < $1.newest }) {
      shown.removeAll { $0.speaker == quiet.speaker }
    }
    shown.append(segment)
    shown.sort { $0.start < $1.start }
  }
}

/// A segment as it is from a moment on.
struct BurnedSegment: Sendable {
  struct Key: Hashable, Sendable {
    let identity: String
    let id: String
  }

  let speaker: Captions.Speaker
  let key: Key
  private let text: String
  private var isFinal: Bool
  /// When it came.
  private(set) var newest: MediaTime
  /// When something of it came first.
  private(set) var start: MediaTime
  private(set) var lines = CaptionLines("")

  init(_ segment: TranscriptionSegment, of speaker: Captions.Speaker, at now: MediaTime) {
    (self.speaker, key) = (speaker, Key(identity: speaker.identity, id: segment.id))
    (text, isFinal, newest, start) = (segment.text, segment.isFinal, now, now)
  }

  mutating func wrap(naming: Bool) { lines = CaptionLines(text, name: naming ? speaker.name : "") }

  var isEmpty: Bool { text.allSatisfy(\.isWhitespace) }

  mutating func goOn(from before: BurnedSegment) {
    start = before.start
    guard text == before.text, before.isFinal || !isFinal else { return }
    // What is told once more stays no longer for it.
    (isFinal, newest) = (before.isFinal, before.newest)
  }

  /// When it is to go.
  var end: MediaTime {
    max(start + lines.reading, newest + (isFinal ? lines.readingOfLast : Captions.patience))
  }

  /// When other lines of it are seen, or none.
  func change(after time: MediaTime) -> MediaTime { lines.next(after: time - start).map { start + $0 } ?? end }
}
