import Foundation
import LiveKitProtocol
import MediaCore

// What is said and written in a room, in LiveKit's two ways: as texts of a topic, and as messages of their own. Both are
// told as the same events, and what is said in both ways at once is told once.
extension Room {
  func receive(_ news: ReceivedTexts.News?) {
    guard let news else { return }
    if let segment = news.segment {
      tell(
        [TranscriptionSegmentDraft(id: segment.id, text: segment.text.said, isFinal: segment.isFinal)],
        of: segment.track, by: segment.text.sender, in: .text, from: segment.text.origin)
    }
    guard case .whole(let text, _) = news, text.topic == .chat else { return }
    tell(.chatMessageReceived(remoteParticipants[text.sender], ChatMessage(text)))
  }

  /// - Returns: false where it has more than is told of one.
  func receive(_ transcription: Livekit_Transcription, from sender: String, origin: String) -> Bool {
    let speaker = transcription.transcribedParticipantIdentity
    tell(
      transcription.segments.prefix(Self.segmentLimit).map(TranscriptionSegmentDraft.init), of: transcription.trackID,
      by: speaker.isEmpty ? sender : speaker, in: .message, from: origin)
    return transcription.segments.count <= Self.segmentLimit
  }

  /// Of one message: what is said at a time. Thousands fit into one, and each is compared with others.
  private static let segmentLimit = 100

  func receive(_ message: Livekit_ChatMessage, from sender: String) {
    tell(.chatMessageReceived(remoteParticipants[sender], ChatMessage(message)))
  }

  /// - Parameters:
  ///   - sid: of the track that is transcribed; nil or empty where the sender does not say.
  ///   - identity: whose it is, where the track does not say.
  ///   - origin: who really sends it.
  private func tell(
    _ drafts: [TranscriptionSegmentDraft], of sid: String?, by identity: String, in way: TranscriptionWays.Way,
    from origin: String
  ) {
    guard !drafts.isEmpty else { return }
    let all = allParticipants
    let publication = sid.flatMap { sid in all.values.lazy.compactMap { $0.allPublications[sid] }.first }
    let participant = publication?.participant ?? all[identity] ?? state.withLock { $0.left[identity, .now] }
    // An agent names its avatar in one way, and itself in the other.
    let voice = participant?.attributes["lk.publish_on_behalf"] ?? participant?.identity ?? identity
    let segments = toldNow(drafts, of: participant?.identity ?? identity) { draft in
      TranscriptionWays.Segment(origin: origin, speaker: voice, way: way, id: draft.id)
    }
    if !segments.isEmpty { tell(.transcriptionReceived(participant, publication, segments)) }
  }

  /// - Parameter segment: as which a draft counts.
  private func toldNow(
    _ drafts: [TranscriptionSegmentDraft], of speaker: String,
    as segment: (TranscriptionSegmentDraft) -> TranscriptionWays.Segment
  ) -> [TranscriptionSegment] {
    let now = Date()
    return messages.texts.withLock { texts in
      drafts.compactMap { draft -> TranscriptionSegment? in
        let first = texts.times.note(draft.id, of: speaker, at: now, isFinal: draft.isFinal)
        let said = draft.text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard texts.received.ways.counts(said, isFinal: draft.isFinal, of: segment(draft), at: .now) else { return nil }
        return draft.segment(from: first, to: now)
      }
    }
  }
}

/// A segment as it was sent.
private struct TranscriptionSegmentDraft {
  var id: String
  var text: String
  var language = ""
  var isFinal: Bool
  var times: (start: UInt64, end: UInt64) = (0, 0)

  init(id: String, text: String, isFinal: Bool) { (self.id, self.text, self.isFinal) = (id, text, isFinal) }

  init(_ segment: Livekit_TranscriptionSegment) {
    (id, text, language, isFinal) = (segment.id, segment.text, segment.language, segment.final)
    times = (segment.startTime, segment.endTime)
  }

  func segment(from first: Date, to now: Date) -> TranscriptionSegment {
    TranscriptionSegment(
      id: id, text: text, language: language, firstReceivedTime: first, lastReceivedTime: now, isFinal: isFinal,
      startTime: times.start, endTime: times.end)
  }
}

extension ChatMessage {
  fileprivate init(_ text: ReceivedTexts.Text) {
    let operation = text.info.operationType
    self.init(
      id: text.info.id, timestamp: text.info.timestamp, editTimestamp: operation == .update ? text.info.timestamp : nil,
      message: text.content, isDeleted: operation == .delete, isGenerated: text.info.generated)
  }

  fileprivate init(_ message: Livekit_ChatMessage) {
    self.init(
      id: message.id, timestamp: Date(milliseconds: message.timestamp),
      editTimestamp: message.hasEditTimestamp ? Date(milliseconds: message.editTimestamp) : nil,
      message: message.message, isDeleted: message.deleted, isGenerated: message.generated)
  }
}
