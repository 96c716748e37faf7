import MediaBridge

/// Who is seen and heard in a composite. Of the others nothing is subscribed to. Pure.
struct CompositeChoice: Sendable {
  /// The only one, whatever characters are in it.
  private let identity: String?
  private let names: NamePatterns

  init(_ options: CompositeOptions) {
    (identity, names) = (options.participant, NamePatterns(options.participants))
  }

  func includes(_ identity: String?) -> Bool {
    if let only = self.identity { return identity == only }
    return names.matches(identity)
  }

  /// For people; nil where all are members.
  var words: String? { identity ?? names.words }
}

extension Room {
  /// All that the chosen publish, by whoever joined first.
  func publications(of choice: CompositeChoice) -> [RemoteTrackPublication] {
    participants(of: choice).flatMap { TrackChoice.ordered(Array($0.trackPublications.values)) }
  }

  /// The chosen who may publish, in the order in which they joined.
  func participants(of choice: CompositeChoice) -> [RemoteParticipant] {
    remoteParticipants.values.filter { $0.mayPublish && choice.includes($0.identity) }.sorted {
      ($0.joinedAt ?? .distantPast, $0.identity ?? "") < ($1.joinedAt ?? .distantPast, $1.identity ?? "")
    }
  }
}
