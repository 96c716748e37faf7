import MediaCore
import MediaPipelines
import PeerTransport
import RTP
import SDP

/// The tracks that are being received, and the timelines of their participants.
struct ReceivedTracks {
  private let factory: PipelineFactory
  private let latency: Int?
  private(set) var media: [String: TrackMedia] = [:]
  private(set) var sent: [String: OfferedTrack] = [:]
  private var clocks: [String: ParticipantClock] = [:]

  init(factory: PipelineFactory, latency: Int?) { (self.factory, self.latency) = (factory, latency) }

  /// The section of each track.
  var sections: [(section: NegotiatedSection, trackSid: String)] {
    sent.values.map { (section: $0.section, trackSid: $0.sid) }
  }

  /// - Returns: the SIDs of those that do not go on in what is sent now.
  func ended(by live: [String: OfferedTrack]) -> [String] {
    sent.filter { live[$0.key]?.continues($0.value) != true }.map(\.key)
  }

  /// What a track is, once its packets have turned out to be in that codec; nil where it is received in it already.
  func changed(_ sid: String, to codec: String) -> OfferedTrack? {
    guard let track = sent[sid]?.received(as: codec), media[sid]?.codec != track.codec.lowercased() else { return nil }
    return track
  }

  /// - Parameters:
  ///   - loop: on which it is received.
  ///   - onOtherCodec: told once when packets of another codec come.
  ///   - onStream: told when media stays away, or comes back.
  mutating func add(
    _ track: OfferedTrack, on loop: TransportLoop, onOtherCodec: @escaping (String) -> Void,
    onStream: @escaping (MediaTimeout.Change) -> Void
  ) -> TrackReception {
    let clock = clocks[track.participant] ?? ParticipantClock()
    clocks[track.participant] = clock
    let reception = TrackReception(
      track, clock: clock, configuration: RTPReceiver.Configuration(track), onOtherCodec: onOtherCodec,
      onStream: onStream)
    sent[track.sid] = track
    media[track.sid] = TrackMedia(
      ReceiveSettings(track, clock: clock, factory: factory, latency: latency), clockRate: track.clockRate, loop: loop,
      meter: reception.meter, form: reception.form, reception: LoopBound(reception, on: loop))
    return reception
  }

  /// - Returns: what is to be closed.
  mutating func remove(_ sid: String) -> TrackMedia? {
    sent[sid] = nil
    return media.removeValue(forKey: sid)
  }

  /// - Returns: what was received, and is closed.
  mutating func removeAll() -> [TrackMedia] {
    defer { media = [:] }
    return Array(media.values)
  }

  /// Whoever sends nothing any more begins another timeline.
  mutating func dropIdleClocks() {
    let participants = Set(sent.values.map(\.participant))
    clocks = clocks.filter { participants.contains($0.key) }
  }
}

extension OfferedTrack {
  var isVideo: Bool { section.kind == .video }
  var codec: String { format?.codec.name ?? "" }
  /// The header element that says how frames are to be turned, if the server leaves that to us.
  var orientationID: UInt8? { isVideo ? section.extensionID(HeaderExtensionURI.videoOrientation) : nil }
  var clockRate: UInt32 { format?.codec.clockRate ?? 90_000 }
}

extension ReceiveSettings {
  fileprivate init(_ track: OfferedTrack, clock: ParticipantClock, factory: PipelineFactory, latency: Int?) {
    self.init(
      trackSid: track.sid, codec: track.codec.lowercased(), isVideo: track.isVideo,
      payloadType: track.format?.payloadType ?? PayloadType(0), orientationID: track.orientationID, clock: clock,
      factory: factory, latency: latency)
  }
}

extension RTPReceiver.Configuration {
  /// The first stream of the section, in any of its formats.
  init(_ track: OfferedTrack) {
    let pair = track.section.remoteSourceGroups.first { $0.semantics == "FID" && $0.ssrcs.count == 2 }
    self.init(
      track.section, ssrc: pair?.ssrcs[0] ?? track.section.remoteSources.first?.ssrc, rtx: pair?.ssrcs[1],
      clockRate: track.clockRate)
  }
}
