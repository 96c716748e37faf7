/// Why an answer does not fit the offer that it answers.
public enum NegotiationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// No offer was made, or it was answered or abandoned already.
  case noOfferOutstanding
  /// The answer has another number of m-lines, or one of another kind or mid, at this position.
  case sectionMismatch(index: Int)

  /// For people.
  public var description: String {
    switch self {
    case .noOfferOutstanding: "answer without an offer"
    case .sectionMismatch(let index): "answer does not match the offer at media section \(index)"
    }
  }
}

/// One side of one peer connection over its life: keeps the m-lines, their mids and the session version through offers and
/// answers. A server uses it to offer what a subscriber is to receive, a client to offer what it publishes, and either to
/// answer the other.
///
/// An m-line never goes away (RFC 8829, 5.2.2). One whose track was removed is offered without it and taken by the next
/// track of its kind under the same mid; one that the peer rejected is offered with port 0 and taken by any track, under
/// a new mid.
public struct Negotiator: Sendable {
  /// Whose habits the offers follow where the standards leave a choice.
  public enum Style: Sendable {
    /// libwebrtc: a section only sends, and is inactive without its track; it carries the fingerprint itself.
    case browser
    /// pion, as LiveKit's server uses it: a section offers to receive, too, and only that without its track; the
    /// fingerprint stands at session level.
    case pion
  }
  /// Ours is that of browsers unless set.
  public var style = Style.browser
  /// Replaced to restart ICE: the next description carries the new credentials (RFC 8839, 4.4.1.1).
  public var transport: LocalTransport
  /// An offer was made and neither answered nor abandoned.
  public var isAwaitingAnswer: Bool { pendingOffer != nil }
  /// Something changed since the newest offer.
  public private(set) var needsOffer = false

  private var origin: SessionDescription.Origin
  private var slots: [Slot] = []
  private var nextMid = 0
  private var pendingOffer: SessionDescription?

  private struct Slot: Sendable {
    enum Content: Sendable {
      case track(SendingTrack)
      /// Without a track; the last one's formats stay.
      case vacant(SendingTrack)
      case dataChannels
      case stopped(SendingTrack)
    }
    var mid: String
    var content: Content
  }

  /// - Parameter sessionID: a random number below 2^63 (RFC 8829, 5.2.1).
  public init(sessionID: UInt64, transport: LocalTransport) {
    self.transport = transport
    origin = .init(sessionID: sessionID, sessionVersion: 1)
  }

  /// Adds a track to the next offer and returns its mid.
  public mutating func add(_ track: SendingTrack) -> String {
    needsOffer = true
    for index in slots.indices {
      switch slots[index].content {
      case .vacant(let last) where last.kind == track.kind: slots[index].content = .track(track)
      case .stopped: slots[index] = Slot(mid: takeMid(), content: .track(track))
      default: continue
      }
      return slots[index].mid
    }
    slots.append(Slot(mid: takeMid(), content: .track(track)))
    return slots[slots.count - 1].mid
  }

  /// Offers the section of `mid` without its track from now on. An unknown mid, or one without a track, changes nothing.
  public mutating func remove(mid: String) {
    for index in slots.indices where slots[index].mid == mid {
      guard case .track(let track) = slots[index].content else { return }
      slots[index].content = .vacant(track)
      needsOffer = true
    }
  }

  /// Adds the application section to the next offer, once.
  public mutating func addDataChannels() {
    let exists = slots.contains { if case .dataChannels = $0.content { true } else { false } }
    guard !exists else { return }
    slots.append(Slot(mid: takeMid(), content: .dataChannels))
    needsOffer = true
  }

  /// The tracks in the sections, by mid.
  public var tracks: [String: SendingTrack] {
    var result: [String: SendingTrack] = [:]
    for slot in slots { if case .track(let track) = slot.content { result[slot.mid] = track } }
    return result
  }

  /// The next offer; nil while an earlier one awaits its answer. Make it when `needsOffer` says so or ICE restarts.
  public mutating func makeOffer() -> SessionDescription? {
    guard pendingOffer == nil else { return nil }
    var offer = SessionDescription(origin: nextOrigin())
    offer.extmapAllowMixed = true
    offer.msidSemantic = "WMS *"
    offer.media = slots.map(section)
    if style == .pion { moveFingerprint(in: &offer) }
    offer.groups = [.init(semantics: "BUNDLE", mids: offer.media.filter { !$0.isRejected }.compactMap(\.mid))]
    needsOffer = false
    pendingOffer = offer
    return offer
  }

  /// Drops an offer that will not be answered, as after a lost signal connection; the next one says everything again.
  public mutating func abandonOffer() {
    guard pendingOffer != nil else { return }
    pendingOffer = nil
    needsOffer = true
  }

  /// Checks the answer against the outstanding offer and says what is agreed, seen from this side.
  public mutating func accept(_ answer: SessionDescription) throws(NegotiationError) -> [NegotiatedSection] {
    guard let offer = pendingOffer else { throw .noOfferOutstanding }
    var agreed: [NegotiatedSection] = []
    for (index, offered) in offer.media.enumerated() {
      guard index < answer.media.count, Self.fits(answer.media[index], offered) else {
        throw .sectionMismatch(index: index)
      }
      agreed.append(Self.negotiated(index, offered, answer.media[index]))
    }
    guard answer.media.count == offer.media.count else { throw .sectionMismatch(index: offer.media.count) }
    pendingOffer = nil
    for section in agreed where !section.isAccepted { stop(section.index, mid: section.mid) }
    return agreed
  }

  /// Answers an offer of the other side with the next session version.
  public mutating func answer(
    _ offer: SessionDescription, capabilities: MediaCapabilities,
    decide: (MediaSection) -> Answer.Decision = { _ in .accept(.recvonly) }
  ) -> Answer {
    Answer(to: offer, origin: nextOrigin(), capabilities: capabilities, transport: transport, decide: decide)
  }

  private static func fits(_ answered: MediaSection, _ offered: MediaSection) -> Bool {
    answered.kind == offered.kind && (answered.mid == offered.mid || answered.mid == nil || answered.isRejected)
  }

  private static func negotiated(_ index: Int, _ offered: MediaSection, _ answered: MediaSection) -> NegotiatedSection {
    var answer = answered
    answer.mid = offered.mid
    // RFC 3264, 6.1: an answer uses the offer's payload types; what was not offered was not agreed.
    answer.codecs = answered.codecs.filter { offered.codec($0.payloadType) != nil }
    return NegotiatedSection(
      index: index, answer: answer, remote: answered,
      direction: offered.direction.limited(to: answered.direction.reversed))
  }

  private mutating func nextOrigin() -> SessionDescription.Origin {
    origin.sessionVersion &+= 1
    return origin
  }

  private mutating func takeMid() -> String {
    defer { nextMid += 1 }
    return String(nextMid)
  }

  /// A section that the peer rejected takes part no more, unless it was recycled while the answer was on its way.
  private mutating func stop(_ index: Int, mid: String) {
    guard slots.indices.contains(index), slots[index].mid == mid else { return }
    switch slots[index].content {
    case .track(let track), .vacant(let track): slots[index].content = .stopped(track)
    case .dataChannels, .stopped: break
    }
  }

  private func moveFingerprint(in offer: inout SessionDescription) {
    offer.transport.fingerprints = [transport.fingerprint]
    for index in offer.media.indices { offer.media[index].transport.fingerprints = [] }
  }

  private func section(_ slot: Slot) -> MediaSection {
    switch slot.content {
    case .dataChannels: return dataChannels(slot.mid)
    case .track(let track):
      var section = rtp(track, slot.mid, style == .pion ? .sendrecv : .sendonly)
      track.describe(in: &section)
      return section
    case .vacant(let track): return rtp(track, slot.mid, style == .pion ? .recvonly : .inactive)
    case .stopped(let track):
      var section = rtp(track, slot.mid, .inactive)
      section.port = 0
      section.transport = TransportAttributes()
      return section
    }
  }

  private func base(_ kind: MediaSection.Kind, _ proto: String, _ mid: String) -> MediaSection {
    var section = MediaSection(kind: kind, port: 9, proto: proto)
    section.connection = "IN IP4 0.0.0.0"
    section.mid = mid
    section.transport = transport.attributes(setup: .actpass)
    return section
  }

  private func rtp(_ track: SendingTrack, _ mid: String, _ direction: Direction) -> MediaSection {
    var section = base(track.kind, MediaSection.rtpProtocol, mid)
    section.direction = direction
    section.codecs = track.codecs
    section.headerExtensions = track.headerExtensions
    section.rtcpMux = true
    section.rtcpRsize = true
    return section
  }

  private func dataChannels(_ mid: String) -> MediaSection {
    var section = base(.application, MediaSection.sctpProtocol, mid)
    section.formats = ["webrtc-datachannel"]
    section.sctpPort = 5000
    section.maxMessageSize = 262_144
    return section
  }
}
