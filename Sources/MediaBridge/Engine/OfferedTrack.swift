import SDP

/// A track that the server sends: the section that carries it, and the format in which it is expected.
///
/// A LiveKit server lists every codec it knows in each section, whatever the track is sent in, so the order of the
/// formats says nothing. It sends the first of the track's codecs that the answer took, and when there is none it takes
/// the track back.
struct OfferedTrack {
  let sid: String
  /// Whose timeline the track belongs to.
  let participant: String
  let section: NegotiatedSection
  let format: NegotiatedSection.Format?

  /// nil for a section that brings us nothing.
  /// - Parameters:
  ///   - mids: which track a section carries, where the server says it apart from the description.
  ///   - codecs: MIME types of the published tracks by SID, as the server prefers them.
  init?(_ section: NegotiatedSection, mids: [String: String], codecs: [String: [String]]) {
    guard section.carriesMedia, let sid = Self.trackSid(of: section, mids)
    else { return nil }
    self.init(section, sid: sid, mimeTypes: codecs[sid] ?? [])
  }

  private init?(_ section: NegotiatedSection, sid: String, mimeTypes: [String]) {
    let media = section.formats.filter { !$0.codec.isRED }
    let names = mimeTypes.compactMap { $0.split(separator: "/").last.map(String.init) }
    let named = names.lazy.compactMap { name in media.first { $0.codec.isNamed(name) } }.first
    // Audio may be announced by the name of what wraps it (RFC 2198).
    guard named != nil || names.isEmpty || section.kind != .video else { return nil }
    self.sid = sid
    self.section = section
    participant = section.remoteMsid?.stream.split(separator: "|").first.map(String.init) ?? sid
    format = named ?? media.first
  }

  /// The same, in the codec that its packets turned out to be in.
  func received(as codec: String) -> OfferedTrack? {
    OfferedTrack(section, sid: sid, mimeTypes: [codec])
  }

  /// Whether what arrives now goes on with what arrived as `earlier`. A track that is subscribed to anew may come in
  /// another section, or in the same one from another source.
  func continues(_ earlier: OfferedTrack) -> Bool { earlier.goesOn(in: section) }

  func goesOn(in newer: NegotiatedSection) -> Bool {
    newer.carriesMedia && newer.mid == section.mid && newer.formats == section.formats
      && newer.remoteSources.map(\.ssrc) == section.remoteSources.map(\.ssrc)
  }

  /// The SID is the track id of the msid; newer servers repeat it by mid.
  private static func trackSid(of section: NegotiatedSection, _ mids: [String: String]) -> String? {
    if let sid = mids[section.mid], !sid.isEmpty { return sid }
    guard let track = section.remoteMsid?.track, track.hasPrefix("TR_") else {
      // `PARTICIPANT_SID|TRACK_SID` as the stream's id; a room whose streams are kept in sync has their name there.
      let sid = section.remoteMsid?.stream.split(separator: "|").last.map(String.init)
      return sid.flatMap { $0.hasPrefix("TR_") ? $0 : nil }
    }
    return track
  }
}

extension NegotiatedSection {
  fileprivate var carriesMedia: Bool { isAccepted && direction.receives && kind != .application }
}
