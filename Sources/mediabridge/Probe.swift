import Egress
import MediaBridge
import MediaCore

/// Subscribes to what it counts, and to nothing else.
final class Probe: RoomDelegate, Sendable {
  private struct Entry {
    let publication: RemoteTrackPublication
    let owner: String
    let counter: TrackCounter
    /// Why it cannot be had, as far as is known.
    var failure: LiveKitError?
  }

  /// Identities, and patterns of them; without any everyone.
  private let participants: [String]
  private let names: NamePatterns
  private let withAudio: Bool
  private let shownSize: Dimensions?
  private let readsClock: Bool
  /// In the order in which they were published.
  private let entries = Locked<[Entry]>([])

  /// - Parameters:
  ///   - participants: identities, and patterns of them; without any everyone.
  ///   - shownSize: in which frames are shown; nil for their own.
  init(participants: [String], withAudio: Bool, shownAt shownSize: Dimensions?, readsClock: Bool) {
    (self.participants, names) = (participants, NamePatterns(participants))
    self.withAudio = withAudio
    self.shownSize = shownSize
    self.readsClock = readsClock
  }

  var counts: [TrackCount] { entries.withLock { $0 }.map(\.counter.count) }

  /// With what is lost until now.
  func results() async -> [ProbeResult] {
    var results: [ProbeResult] = []
    for entry in entries.withLock({ $0 }) {
      await entry.publication.track?.set(reportStatistics: true)
      let inbound = entry.publication.track?.statistics?.inboundRtp?.first
      results.append(
        ProbeResult(
          owner: entry.owner, publication: entry.publication, count: entry.counter.count, mimeType: inbound?.mimeType,
          loss: inbound?.loss, failure: entry.failure))
    }
    return results
  }

  func room(_ room: Room, participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication) {
    guard isWanted(participant), withAudio || publication.kind == .video else { return }
    let counter = TrackCounter(shownAt: shownSize, readsClock: readsClock)
    let entry = Entry(publication: publication, owner: participant.identity ?? participant.sid, counter: counter)
    entries.withLock { $0.append(entry) }
    // Without a connection there is nothing to count, which `connect` or the end of the room tells.
    Task { try? await publication.set(subscribed: true) }
  }

  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    let counter = entries.withLock { entries -> TrackCounter? in
      guard let index = entries.lastIndex(where: { $0.publication === publication }) else { return nil }
      entries[index].failure = nil
      return entries[index].counter
    }
    guard let counter else { return }
    switch publication.track {
    case let track as RemoteVideoTrack: track.add(videoRenderer: counter)
    case let track as RemoteAudioTrack: track.add(audioRenderer: counter)
    default: break
    }
  }

  func room(
    _ room: Room, participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: LiveKitError
  ) {
    guard let publication = participant.trackPublications[trackSid] else { return }
    entries.withLock { entries in
      guard let index = entries.lastIndex(where: { $0.publication === publication }) else { return }
      entries[index].failure = error
    }
  }

  private func isWanted(_ participant: RemoteParticipant) -> Bool {
    names.matches(participant.identity)
  }
}

extension Probe {
  /// Why there is nothing to measure, or not all of it; nil when all went well.
  func failure(of room: Room) async -> LiveKitError? {
    let counts = counts
    if let lost = room.disconnectError {
      return LiveKitError(lost.code, "\(lost.message) (after \(counts.frames) frames)")
    }
    guard counts.frames == 0, counts.audioSamples == 0 else { return nil }
    return LiveKitError(.noMedia, "nothing was received: \(missing(in: room))")
  }

  private func missing(in room: Room) -> String {
    let entries = entries.withLock { $0 }
    guard entries.isEmpty else {
      let tracks = entries.map { "\($0.publication.source) of \($0.owner)\($0.publication.isMuted ? " (muted)" : "")" }
      let reasons = entries.compactMap(\.failure?.message)
      return "nothing came of \(tracks.joined(separator: ", "))"
        + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: "; "))
    }
    guard room.remoteParticipants.values.contains(where: isWanted) else { return nobody(in: room) }
    let hint = withAudio ? "" : "; without --no-audio audio counts, too"
    let what = withAudio ? "anything" : "video"
    if let only = names.only { return "\(only) publishes \(withAudio ? "nothing" : "no video")\(hint)" }
    let who = names.words.map { "like \($0) " } ?? ""
    return "nobody \(who)in room \(room.name) publishes \(what)\(hint)"
  }

  private func nobody(in room: Room) -> String {
    guard let words = names.words else { return "nobody else is in room \(room.name)" }
    let who = names.only.map { "participant \($0) is not" } ?? "nobody like \(words) is"
    let choice = RawChoice(kind: .video, participants: participants)
    let hint = choice.hint(among: room.remoteParticipants.values).map { " (\($0))" } ?? ""
    return "\(who) in room \(room.name)\(hint); check the name"
  }
}

extension InboundRtpStreamStatistics {
  /// Share of packets that never came, 0…1; nil when none was expected.
  fileprivate var loss: Double? {
    let (received, lost) = (Double(packetsReceived ?? 0), Double(max(0, packetsLost ?? 0)))
    return received + lost > 0 ? lost / (received + lost) : nil
  }
}
