import MediaBridge
import MediaCore

/// What is published for a composite, by whom, and what arrives of it.
struct CompositeMembers: Sendable {
  /// What arrives, or did.
  struct Arrival: Sendable {
    let publication: RemoteTrackPublication
    /// The server's id of the track as this came of it; that of the publication is another one in another session.
    let sid: String
    let media: IncomingMedia
    /// A publication that is gone knows of nobody.
    let identity: String

    /// As it has come so far.
    func track() async -> Manifest.Track {
      var track = Manifest.Track(publication, sid: sid, media, await media.reception())
      track.publisherIdentity = identity
      return track
    }
  }

  private(set) var wanted: [RemoteTrackPublication] = []
  /// The server's ids of tracks that come, of which something could not be decoded.
  var unreadable: Set<String> = []
  /// Of those that are subscribed and of which nothing has come, although it should have; it may come after all.
  var silent: Set<String> = []
  var voices = VoiceTracks()
  var gaps = TrackGaps()
  /// Of those that are wanted; one that is gone is here until it was counted.
  private var arriving: [ObjectIdentifier: Arrival] = [:]

  /// - Returns: those that are published no more.
  mutating func follow(_ publications: [RemoteTrackPublication]) -> [RemoteTrackPublication] {
    defer { wanted = publications }
    return wanted.filter { gone in !publications.contains { $0 === gone } }
  }

  /// Notes what arrives of those that are wanted.
  /// - Returns: what did, and arrives in another session or codec since.
  mutating func noteArrivals() -> [Arrival] {
    var replaced: [Arrival] = []
    for publication in wanted {
      guard let media = publication.media else { continue }
      let old = arriving[ObjectIdentifier(publication)]
      guard old?.media != media else { continue }
      if let old { replaced.append(old) }
      let identity = publication.participant?.identity ?? old?.identity ?? ""
      arriving[ObjectIdentifier(publication)] = Arrival(
        publication: publication, sid: publication.sid, media: media, identity: identity)
    }
    return replaced
  }

  /// Whether it arrives now.
  func has(_ arrival: Arrival) -> Bool {
    arriving[ObjectIdentifier(arrival.publication)]?.media == arrival.media
  }

  var arrivals: [Arrival] { Array(arriving.values) }

  /// It is counted no more.
  mutating func forget(_ publication: RemoteTrackPublication) { arriving[ObjectIdentifier(publication)] = nil }
}
