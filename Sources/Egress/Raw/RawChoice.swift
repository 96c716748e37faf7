package import MediaBridge

/// Which track of whom is taken. Pure.
package struct RawChoice: Sendable {
  package let kind: Track.Kind
  /// Identities, and patterns of them; without any all count.
  package var participants: [String]
  package var sids: Set<String>
  package var sources: Set<Track.Source>
  /// Names of tracks, and patterns of them; without any all count.
  package var names: [String]

  package init(
    kind: Track.Kind, participants: [String] = [], sids: Set<String> = [], sources: Set<Track.Source> = [],
    names: [String] = []
  ) {
    (self.kind, self.participants, self.sids, self.sources, self.names) = (kind, participants, sids, sources, names)
  }

  private static let order: [Track.Source] = [.camera, .microphone, .screenShareVideo, .screenShareAudio, .unknown]

  package func accepts(_ publication: TrackPublication) -> Bool {
    guard publication.kind == kind, NamePatterns(names).matches(publication.name) else { return false }
    return (sids.isEmpty || sids.contains(publication.sid)) && (sources.isEmpty || sources.contains(publication.source))
  }

  /// A track that was named stays chosen when it has another SID, as in a new session.
  /// - Parameter taken: what was chosen.
  package mutating func follow(_ taken: [TrackPublication]) {
    if !sids.isEmpty { sids.formUnion(taken.map(\.sid)) }
  }

  package func accepts(_ participant: Participant) -> Bool { accepts(identity: participant.identity) }

  func accepts(identity: String?) -> Bool { NamePatterns(participants).matches(identity) }

  /// What is sent before what is muted, and the camera before a shared screen.
  package func best<Publication: TrackPublication>(of publications: some Sequence<Publication>) -> Publication? {
    publications.filter(accepts).min { rank($0) < rank($1) }
  }

  private func rank(_ publication: TrackPublication) -> (Int, Int, String) {
    (publication.isMuted ? 1 : 0, Self.order.firstIndex(of: publication.source) ?? 9, publication.sid)
  }

  /// What is waited for, for people.
  package var wish: String {
    let what = sources.isEmpty ? "\(kind)" : sources.map { $0.spoken(kind) }.sorted().joined(separator: " or ")
    if !sids.isEmpty { return "track \(sids.sorted().joined(separator: " or "))" }
    let named = NamePatterns(names).words.map { "\(what) called \($0)" } ?? what
    return NamePatterns(participants).words.map { "the \(named) of \($0)" } ?? "\(named) of somebody"
  }
}
