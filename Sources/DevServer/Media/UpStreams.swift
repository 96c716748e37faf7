import MediaCore
import PeerTransport
import RTP
import SDP

/// What a client publishes, and which stream is what of it.
struct UpStreams {
  typealias Stream = (track: PublishedTrack, layer: UpLayer)

  var tracks: [PublishedTrack] = []
  /// Of the newest answer.
  var sections: [NegotiatedSection] = []
  private var streams: [SSRC: Stream] = [:]
  /// What their senders have left: late packets of them begin no layer.
  private var former: Set<SSRC> = []
  /// The tracks, by `cid`, that the newest offer sends.
  private var offered: Set<String> = []

  /// Each once, whatever repairs it.
  var layers: [UpLayer] { streams.compactMap { $0.key == $0.value.layer.ssrc ? $0.value.layer : nil } }

  subscript(_ source: SSRC) -> Stream? { streams[source] }

  mutating func stream(of packet: RTPPacket) -> Stream? { streams[packet.ssrc] ?? identify(packet) }

  /// Of whichever section has it: a client numbers an extension alike in all.
  func extensionID(_ uri: String) -> UInt8? {
    sections.lazy.compactMap { $0.extensionID(uri) }.first
  }

  /// A track whose section no longer sends is unpublished, also where nothing ever came of it.
  /// - Returns: those.
  mutating func removeEnded(in offer: SessionDescription) -> [PublishedTrack] {
    let sending = Set(offer.media.filter { $0.direction.sends && !$0.isRejected }.compactMap { $0.msid?.track })
    let ended = tracks.filter { ($0.isFlowing || offered.contains($0.cid)) && !sending.contains($0.cid) }
    offered = sending
    for track in ended {
      tracks.removeAll { $0 === track }
      streams = streams.filter { $0.value.track !== track }
    }
    return ended
  }

  /// Streams that the description announces by SSRC.
  mutating func registerAnnounced() {
    for section in sections where section.isAccepted {
      guard let track = track(of: section) else { continue }
      let groups = section.remoteSourceGroups
      let repair = groups.filter { $0.semantics == "FID" && $0.ssrcs.count == 2 }
      let repairs = Set(repair.map { $0.ssrcs[1] })
      let layers =
        groups.first { $0.semantics == "SIM" }?.ssrcs
        ?? section.remoteSources.map(\.ssrc).filter { !repairs.contains($0) }.prefix(1).map { $0 }
      for (index, ssrc) in layers.enumerated() where section.remoteRids.isEmpty && isNew(ssrc) {
        register(track, section, index: index, ssrc: ssrc, rtx: repair.first { $0.ssrcs[0] == ssrc }?.ssrcs[1])
      }
    }
  }

  private func isNew(_ ssrc: SSRC) -> Bool { streams[ssrc] == nil && !former.contains(ssrc) }

  private func track(of section: NegotiatedSection) -> PublishedTrack? {
    section.remoteMsid?.track.flatMap { cid in tracks.first { $0.cid == cid } }
  }

  @discardableResult
  private mutating func register(
    _ track: PublishedTrack, _ section: NegotiatedSection, index: Int, ssrc: SSRC, rtx: SSRC?
  ) -> UpLayer {
    if let old = track.layers.first(where: { $0.index == index && $0.ssrc != ssrc }) { forget(old, of: track) }
    let layer = track.layer(index) {
      var configuration = RTPReceiver.Configuration(section, ssrc: ssrc, rtx: rtx)
      // What is sent redundantly goes on as it is, so that subscribers repair with it, too.
      configuration.formats = configuration.formats.mapValues { $0 == .redundant ? .media : $0 }
      return UpLayer(index: index, ssrc: ssrc, receiver: RTPReceiver(configuration: configuration))
    }
    streams[ssrc] = (track, layer)
    if let rtx { streams[rtx] = (track, layer) }
    return layer
  }

  /// Its sender goes on under another SSRC, as one may at any time (RFC 3550, 8.2).
  private mutating func forget(_ layer: UpLayer, of track: PublishedTrack) {
    // A sender that changes it again and again is not remembered for ever.
    if former.count >= 1000 { former = [] }
    former.insert(layer.ssrc)
    streams = streams.filter { $0.value.layer !== layer }
    track.remove(layer)
  }

  /// What repaired the layer before is forgotten.
  private mutating func repair(_ layer: UpLayer, of track: PublishedTrack, by ssrc: SSRC) {
    streams = streams.filter { $0.value.layer !== layer || $0.key == layer.ssrc }
    layer.receiver.rtxSSRC = ssrc
    streams[ssrc] = (track, layer)
  }

  /// A stream that only its header extensions identify (RFC 8843, 9.2; RFC 8852).
  private mutating func identify(_ packet: RTPPacket) -> Stream? {
    guard !former.contains(packet.ssrc) else { return nil }
    func text(_ uri: String, _ section: NegotiatedSection) -> String? {
      guard let id = section.extensionID(uri) else { return nil }
      return packet.withHeaderExtension(id) { String(decoding: $0, as: UTF8.self) }
    }
    let section = sections.first { $0.isAccepted && text(HeaderExtensionURI.mid, $0) == $0.mid }
    guard let section, let track = track(of: section) else { return nil }
    if let rid = text(HeaderExtensionURI.repairedRTPStreamID, section) {
      guard let index = layerIndex(rid, section), let layer = track.layers.first(where: { $0.index == index }) else {
        return nil
      }
      repair(layer, of: track, by: packet.ssrc)
      return (track, layer)
    }
    // A retransmission that does not say what it repairs begins no layer.
    guard section.formats.contains(where: { $0.payloadType == packet.payloadType }) else { return nil }
    let rid = text(HeaderExtensionURI.rtpStreamID, section)
    guard let index = rid.map({ layerIndex($0, section) }) ?? 0 else { return nil }
    return (track, register(track, section, index: index, ssrc: packet.ssrc, rtx: nil))
  }

  private func layerIndex(_ rid: String, _ section: NegotiatedSection) -> Int? {
    guard let index = PublishedTrack.rids.firstIndex(of: rid) else { return section.remoteRids.firstIndex(of: rid) }
    return min(index, max(0, section.remoteRids.count - 1))
  }
}
