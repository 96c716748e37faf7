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

  /// What can be had before what is refused, what is sent before what is muted, and the camera before a shared screen.
  package func best<Publication: TrackPublication>(of publications: some Sequence<Publication>) -> Publication? {
    publications.filter(accepts).min { rank($0) < rank($1) }
  }

  private func rank(_ publication: TrackPublication) -> (Int, Int, Int, String) {
    let isRefused = (publication as? RemoteTrackPublication)?.refusal != nil
    let order = Self.order.firstIndex(of: publication.source) ?? 9
    return (isRefused ? 1 : 0, publication.isMuted ? 1 : 0, order, publication.sid)
  }

  /// Somebody who may be the one whose media is taken.
  package struct Candidate: Sendable {
    /// Whether it is who was taken from the beginning on.
    package var isStaying: Bool
    /// Whether they are who is taken now, and nothing has come of yet.
    package var isTaken: Bool
    package var isMuted: Bool
    /// Whether nothing of theirs can be had as it is published.
    package var isRefused: Bool

    package init(isStaying: Bool = false, isTaken: Bool = false, isMuted: Bool = false, isRefused: Bool = false) {
      (self.isStaying, self.isTaken) = (isStaying, isTaken)
      (self.isMuted, self.isRefused) = (isMuted, isRefused)
    }

    fileprivate var rank: Int {
      if isStaying { return 0 }
      if !isRefused { return isMuted ? 2 : 1 }
      // Where nobody can be had, one is as good as another.
      return isTaken ? 3 : 4
    }
  }

  /// The one of several whose media is taken. Whoever is muted may stay so for long, and another one be there.
  /// - Returns: the index; nil where there is nobody.
  package static func first(of candidates: [Candidate]) -> Int? {
    candidates.indices.min { candidates[$0].rank < candidates[$1].rank }
  }

  /// What is waited for, for people.
  package var wish: String {
    let what = sources.isEmpty ? "\(kind)" : sources.map { $0.spoken(kind) }.sorted().joined(separator: " or ")
    if !sids.isEmpty { return "track \(sids.sorted().joined(separator: " or "))" }
    let named = NamePatterns(names).words.map { "\(what) called \($0)" } ?? what
    return NamePatterns(participants).words.map { "the \(named) of \($0)" } ?? "\(named) of somebody"
  }
}
