package import MediaBridge

/// Which track of whom is taken. Pure.
package struct RawChoice: Sendable {
  package let kind: Track.Kind
  /// An identity, or with wildcards those of several.
  package var participant: String?
  package var sids: Set<String>
  package var sources: Set<Track.Source>

  package init(
    kind: Track.Kind, participant: String? = nil, sids: Set<String> = [], sources: Set<Track.Source> = []
  ) {
    (self.kind, self.participant, self.sids, self.sources) = (kind, participant, sids, sources)
  }

  private static let order: [Track.Source] = [.camera, .microphone, .screenShareVideo, .screenShareAudio, .unknown]

  package func accepts(_ publication: TrackPublication) -> Bool {
    guard publication.kind == kind else { return false }
    return (sids.isEmpty || sids.contains(publication.sid)) && (sources.isEmpty || sources.contains(publication.source))
  }

  package func accepts(_ participant: Participant) -> Bool { accepts(identity: participant.identity) }

  func accepts(identity: String?) -> Bool {
    guard let participant else { return true }
    guard NamePattern.isPattern(participant) else { return participant == identity }
    return identity.map(NamePattern(participant).matches) ?? false
  }

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
    return participant.map { "the \(what) of \($0)" } ?? "\(what) of somebody"
  }
}
