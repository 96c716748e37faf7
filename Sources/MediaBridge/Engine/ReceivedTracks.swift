import Logging
import MediaCore
import MediaPipelines
import PeerTransport
import RTP
import SDP

/// The tracks that are being received, and the timelines of their participants.
struct ReceivedTracks {
  private let factory: PipelineFactory
  private let latency: Int?
  private let logger: Logger
  /// One that changes its codec is what it was until it is added in the other one.
  private(set) var media: [String: TrackMedia] = [:]
  private(set) var sent: [String: OfferedTrack] = [:]
  /// What the newest offer sends, by SID, whether it is received already or not.
  var offered: [String: OfferedTrack] = [:]
  /// The SIDs of those that change their codec: what `media` has of them is being closed.
  private var changing: Set<String> = []
  private var clocks: [String: ParticipantClock] = [:]

  /// - Parameter logger: told where another template than the one that is there receives a track.
  init(factory: PipelineFactory, latency: Int?, logger: Logger) {
    (self.factory, self.latency, self.logger) = (factory, latency, logger)
  }

  /// The section of each track.
  var sections: [(section: NegotiatedSection, trackSid: String)] {
    sent.values.map { (section: $0.section, trackSid: $0.sid) }
  }

  /// - Returns: the SIDs of those that do not go on in what is sent now.
  func ended(by live: [String: OfferedTrack]) -> [String] {
    sent.filter { live[$0.key]?.continues($0.value) != true }.map(\.key)
  }

  /// The packets of a track have turned out to be in another codec than was expected.
  /// - Returns: what is to be closed before it is added in that one; nil where it is received in it already, or that is
  ///   under way.
  mutating func change(_ sid: String, to codec: String) -> TrackMedia? {
    guard let track = sent[sid]?.received(as: codec), let earlier = media[sid],
      earlier.codec != track.codec.lowercased()
    else { return nil }
    sent[sid] = track
    return changing.insert(sid).inserted ? earlier : nil
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
      ReceiveSettings(
        track, clock: clock, factory: factory, latency: latency, form: reception.form, logger: logger),
      clockRate: track.clockRate, loop: loop, meter: reception.meter, reception: LoopBound(reception, on: loop),
      isContinuation: changing.remove(track.sid) != nil)
    return reception
  }

  /// - Returns: what is to be closed; nil where that is under way.
  mutating func remove(_ sid: String) -> TrackMedia? {
    sent[sid] = nil
    let removed = media.removeValue(forKey: sid)
    return changing.remove(sid) == nil ? removed : nil
  }

  /// - Returns: what is to be closed.
  mutating func removeAll() -> [TrackMedia] { media.keys.sorted().compactMap { remove($0) } }

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
  fileprivate init(
    _ track: OfferedTrack, clock: ParticipantClock, factory: PipelineFactory, latency: Int?, form: FrameForm,
    logger: Logger
  ) {
    self.init(
      trackSid: track.sid, codec: track.codec.lowercased(), isVideo: track.isVideo,
      payloadType: track.format?.payloadType ?? PayloadType(0), orientationID: track.orientationID, clock: clock,
      factory: factory, latency: latency, form: form, logger: logger)
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
