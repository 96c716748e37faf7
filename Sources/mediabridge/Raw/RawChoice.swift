import Egress
import MediaBridge

/// Which track of whom is taken. Pure.
struct RawChoice: Sendable {
  let kind: Track.Kind
  /// An identity, or with wildcards those of several.
  var participant: String?
  var sids: Set<String> = []
  var sources: Set<Track.Source> = []

  private static let order: [Track.Source] = [.camera, .microphone, .screenShareVideo, .screenShareAudio, .unknown]

  func accepts(_ publication: TrackPublication) -> Bool {
    guard publication.kind == kind else { return false }
    return (sids.isEmpty || sids.contains(publication.sid)) && (sources.isEmpty || sources.contains(publication.source))
  }

  func accepts(_ participant: Participant) -> Bool {
    guard let wanted = self.participant else { return true }
    guard NamePattern.isPattern(wanted) else { return wanted == participant.identity }
    return participant.identity.map(NamePattern(wanted).matches) ?? false
  }

  /// The camera before a shared screen, and what is sent before what is muted.
  func best<Publication: TrackPublication>(of publications: some Sequence<Publication>) -> Publication? {
    publications.filter(accepts).min { rank($0) < rank($1) }
  }

  private func rank(_ publication: TrackPublication) -> (Int, String) {
    (Self.order.firstIndex(of: publication.source) ?? 9, publication.sid)
  }

  /// What is waited for, for people.
  var wish: String {
    let what = sources.isEmpty ? "\(kind)" : sources.map { $0.spoken(kind) }.sorted().joined(separator: " or ")
    if !sids.isEmpty { return "track \(sids.sorted().joined(separator: " or "))" }
    return participant.map { "the \(what) of \($0)" } ?? "\(what) of somebody"
  }
}
