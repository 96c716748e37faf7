import Foundation
import MediaBridge
import PipelineTemplates

// Who is there, and where they go.
extension RecorderGroup {
  /// One who gets files or addresses, or whose track does.
  struct Present: Sendable {
    let identity: String
    /// All that is wanted.
    let isMuted: Bool
    /// The server's ids of what is wanted.
    let sids: Set<String>
  }

  /// Who is there of those who get files or addresses, by name.
  var present: [String: Present] {
    let names = NamePatterns(options.participantPatterns)
    return room.remoteParticipants.values.reduce(into: [:]) { present, participant in
      guard let identity = participant.identity, names.matches(identity) else { return }
      let tracks = wanted(of: participant)
      switch unit {
      case .participant:
        guard !tracks.isEmpty else { return }
        present[identity] = Present(
          identity: identity, isMuted: tracks.allSatisfy(\.isMuted), sids: Set(tracks.map(\.sid)))
      case .track:
        for one in tracks { present[one.sid] = Present(identity: identity, isMuted: one.isMuted, sids: [one.sid]) }
      }
    }
  }

  /// All who may publish.
  var guests: [Presence.Guest] {
    let names = NamePatterns(options.participantPatterns)
    return room.remoteParticipants.values.filter(\.mayPublish).map { one in
      one.guest(isRecorded: names.matches(one.identity))
    }
  }

  private func wanted(of participant: RemoteParticipant) -> [RemoteTrackPublication] {
    let (kinds, names) = (options.wantedKinds, NamePatterns(options.trackNames))
    return participant.trackPublications.values.filter {
      kinds.contains($0.kind) && (options.sources.isEmpty || options.sources.contains($0.source))
        && names.matches($0.name)
    }
  }

  /// The destinations of one of them, by their names as far as these are known: two who fail are not told as one.
  func places(of name: String, _ identity: String, _ options: RecordingOptions) -> [Destination] {
    let participant = room.remoteParticipants[identity]
    let track = unit == .track ? participant?.trackPublications[name] : nil
    var values = FileNameValues(at: Date())
    values.add(room, participant, track.map { [$0] } ?? [])
    let ofTrack = values.track(of: [.video, .audio])
    return options.destinations.map { destination in
      let named = destination.destination
      let whole = (try? FileNameTemplate(of: named)?.filled(named, values, ofTrack)) ?? named
      // What somebody else has is not theirs, which failed.
      let takes = max(destination.takesBefore, FileClaim.isKnown(whole.location) ? 1 : 0)
      // Where its disk does not answer it is told of by the name without a number.
      return (try? whole.checkedTake(after: takes)) ?? whole
    }
  }
}
