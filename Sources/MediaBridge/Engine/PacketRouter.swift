import MediaCore
import RTP
import SDP

/// Knows which track a packet is of.
struct PacketRouter {
  private(set) var receptions: [String: TrackReception] = [:]
  private var streams: [SSRC: TrackReception] = [:]
  private var sections: [(section: NegotiatedSection, trackSid: String)] = []

  /// - Parameters:
  ///   - sections: what the newest offer says, and which track each section carries.
  ///   - new: tracks that begin.
  /// - Returns: those that have ended.
  mutating func update(
    _ sections: [(section: NegotiatedSection, trackSid: String)], _ new: [TrackReception]
  ) -> [TrackReception] {
    self.sections = sections
    for reception in new { receptions[reception.trackSid] = reception }
    let live = Set(sections.map(\.trackSid))
    let ended = receptions.values.filter { !live.contains($0.trackSid) }
    for reception in ended { receptions[reception.trackSid] = nil }
    streams = [:]
    for (section, trackSid) in sections {
      guard let reception = receptions[trackSid] else { continue }
      for source in section.remoteSources { streams[source.ssrc] = reception }
    }
    return ended
  }

  /// - Returns: the tracks that there were.
  mutating func removeAll() -> [TrackReception] {
    defer { (receptions, streams, sections) = ([:], [:], []) }
    return Array(receptions.values)
  }

  subscript(_ source: SSRC) -> TrackReception? { streams[source] }

  mutating func reception(of packet: RTPPacket) -> TrackReception? { streams[packet.ssrc] ?? identify(packet) }

  /// A stream that the description does not announce names its section in a header extension (RFC 9143, 9.2).
  private mutating func identify(_ packet: RTPPacket) -> TrackReception? {
    for (section, trackSid) in sections {
      guard let id = section.extensionID(HeaderExtensionURI.mid),
        packet.withHeaderExtension(id, { String(decoding: $0, as: UTF8.self) }) == section.mid
      else { continue }
      streams[packet.ssrc] = receptions[trackSid]
      return receptions[trackSid]
    }
    return nil
  }
}
