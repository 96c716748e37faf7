import MediaBridge

extension Room {
  /// All that is published, by whoever joined first.
  /// - Parameter identity: of the only one who counts; nil for all.
  func publications(of identity: String?) -> [RemoteTrackPublication] {
    members(identity).flatMap { TrackChoice.ordered(Array($0.trackPublications.values)) }
  }

  /// Who may publish, in the order in which they joined.
  /// - Parameter identity: of the only one who counts; nil for all.
  func members(_ identity: String?) -> [RemoteParticipant] {
    remoteParticipants.values.filter { $0.mayPublish && (identity == nil || $0.identity == identity) }.sorted {
      ($0.joinedAt ?? .distantPast, $0.identity ?? "") < ($1.joinedAt ?? .distantPast, $1.identity ?? "")
    }
  }
}
