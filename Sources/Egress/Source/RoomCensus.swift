import MediaBridge
import PipelineTemplates

/// Who is in a room and what they publish, in words for whoever waits for somebody or something else. Pure.
struct RoomCensus: Sendable {
  struct Person: Sendable {
    var identity: String
    /// What is published, such as `microphone`.
    var tracks: [String]
  }

  /// In any order.
  var people: [Person]

  /// A large room is not told of whole.
  private static let limit = 5

  /// Who is there, such as "alice and bob are there"; nil for nobody.
  var names: String? {
    let identities = people.map(\.identity).sorted()
    guard let list = Self.list(identities, more: "more") else { return nil }
    return "\(list) \(identities.count > 1 ? "are" : "is") there"
  }

  /// Who a person most likely meant that wrote `identity`.
  func nearest(_ identity: String) -> String? { NearestName.of(identity, in: people.map(\.identity).sorted()) }

  /// What is published, such as "the microphone of alice"; nil for nothing.
  var published: String? {
    let tracks = people.sorted { $0.identity < $1.identity }.flatMap { person in
      person.tracks.sorted().map { "the \($0) of \(person.identity)" }
    }
    return Self.list(tracks, more: "more tracks")
  }

  /// Such as "alice, bob and carol", of many the first ones; nil for none.
  /// - Parameter more: what the others are.
  static func list(_ items: [String], more: String) -> String? {
    guard let last = items.last else { return nil }
    guard items.count > 1 else { return last }
    guard items.count > limit else { return items.dropLast().joined(separator: ", ") + " and " + last }
    return items.prefix(limit).joined(separator: ", ") + " and \(items.count - limit) \(more)"
  }
}

// What there is instead of what is waited for. Of `wanted` are identities, and patterns of them; without any, anybody would
// do.
extension RoomCensus {
  /// Who is there, or what is published; nil for nobody and nothing.
  func hint(insteadOf wanted: [String]) -> String? {
    let patterns = NamePatterns(wanted)
    let liked = RoomCensus(people: people.filter { patterns.matches($0.identity) })
    guard !liked.people.isEmpty else {
      return names.map { $0 + (nearest(to: wanted).map { ": did you mean \($0)?" } ?? "") }
    }
    if let published = liked.published { return "there is only \(published)" }
    // Without a name anybody would do: nobody publishes.
    return patterns.words.flatMap { _ in liked.names.map { "\($0), but without tracks" } }
  }

  /// Who was meant most likely, where nobody is called so; nil where somebody is.
  func nearest(to wanted: [String]) -> String? {
    let patterns = NamePatterns(wanted)
    guard !people.contains(where: { patterns.matches($0.identity) }) else { return nil }
    return wanted.filter { !NamePattern.isPattern($0) }.compactMap { nearest($0) }.first
  }
}

extension RoomCensus.Person {
  /// - Parameters:
  ///   - named: whether tracks are asked for by their names.
  ///   - bySID: whether they are asked for by the server's ids.
  init(_ participant: RemoteParticipant, named: Bool, bySID: Bool) {
    let tracks = participant.trackPublications.values.map { publication in
      let detail = bySID ? " \(publication.sid)" : named ? " '\(publication.name)'" : ""
      return publication.source.spoken(publication.kind) + detail
    }
    self.init(identity: participant.identity ?? participant.sid, tracks: tracks)
  }
}
