import MediaBridge

extension Room {
  /// All that is published, by whoever joined first.
  var publications: [RemoteTrackPublication] {
    members.flatMap { TrackChoice.ordered(Array($0.trackPublications.values)) }
  }

  /// Who may publish, in the order in which they joined.
  var members: [RemoteParticipant] {
    remoteParticipants.values.filter(\.mayPublish).sorted {
      ($0.joinedAt ?? .distantPast, $0.identity ?? "") < ($1.joinedAt ?? .distantPast, $1.identity ?? "")
    }
  }
}
