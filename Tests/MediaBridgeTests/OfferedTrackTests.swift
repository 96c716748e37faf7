import MediaCore
import MediaPipelines
import PeerTransport
import RTP
import SDP
import Testing

@testable import MediaBridge

/// Which of a section's formats a track is expected in: LiveKit's sections list every codec, whatever is sent.
@Suite struct OfferedTrackTests {
  private static let transport = LocalTransport(
    iceUfrag: "u", icePwd: "p", fingerprint: Fingerprint(algorithm: "sha-256", value: "AA"))

  private func offer(
    _ kind: MediaSection.Kind = .video, mid: String = "1", sid: String = "TR_VC", ssrc: UInt32 = 10,
    direction: Direction = .sendrecv
  ) -> SessionDescription {
    var offered = MediaSection(kind: kind)
    offered.mid = mid
    offered.direction = direction
    offered.rtcpMux = true
    offered.msids = [MediaStreamID(stream: "PA_alice|\(sid)", track: sid)]
    offered.sources = [SourceDescription(ssrc: SSRC(ssrc), cname: "x", msid: offered.msids[0])]
    offered.codecs =
      kind == .video
      ? CodecCatalogue.vp8() + CodecCatalogue.vp9() + [
        Codec(payloadType: PayloadType(125), name: "H264", clockRate: 90_000, fmtp: "packetization-mode=0")
      ] + CodecCatalogue.h264() + [Codec(payloadType: PayloadType(35), name: "AV1", clockRate: 90_000)]
      : CodecCatalogue.opusInRED
    var offer = SessionDescription(origin: .init(sessionID: 1, sessionVersion: 1))
    offer.media = [offered]
    offer.groups = [.init(semantics: "BUNDLE", mids: [mid])]
    return offer
  }

  func section(
    _ kind: MediaSection.Kind = .video, mid: String = "1", sid: String = "TR_VC", ssrc: UInt32 = 10,
    direction: Direction = .sendrecv
  ) throws -> NegotiatedSection {
    let offer = offer(kind, mid: mid, sid: sid, ssrc: ssrc, direction: direction)
    let answer = Answer(to: offer, origin: offer.origin, capabilities: .subscriber, transport: Self.transport)
    return try #require(answer.sections.first)
  }

  @Test(
    arguments: [
      (["video/VP8"], "VP8", 96), (["video/VP9"], "VP9", 98), (["video/h264"], "H264", 125),
      (["video/AV1"], "AV1", 35),
      // The first codec is not one of ours: the server falls back to the next that is published.
      (["video/H265", "video/VP9"], "VP9", 98), ([], "VP8", 96),
    ] as [([String], String, UInt8)])
  func theTracksCodecDecides(published: [String], codec: String, payloadType: UInt8) throws {
    let track = try #require(OfferedTrack(try section(), mids: [:], codecs: ["TR_VC": published]))
    #expect(track.codec == codec && track.format?.payloadType == PayloadType(payloadType))
    #expect(track.sid == "TR_VC" && track.participant == "PA_alice" && track.isVideo && track.clockRate == 90_000)
  }

  /// The server finds that out, too, and takes it back.
  @Test func framesInACodecThatIsNotTakenAreNoTrack() throws {
    #expect(OfferedTrack(try section(), mids: [:], codecs: ["TR_VC": ["video/H265"]]) == nil)
  }

  @Test func redundantAudioIsOpus() throws {
    let track = try #require(OfferedTrack(try section(.audio), mids: [:], codecs: ["TR_VC": ["audio/red"]]))
    #expect(track.codec == "opus" && track.clockRate == 48_000)
  }

  @Test func theServersMapOfSectionsWins() throws {
    #expect(OfferedTrack(try section(), mids: ["1": "TR_other"], codecs: [:])?.sid == "TR_other")
  }

  @Test(arguments: [Direction.recvonly, .inactive]) func aSectionThatSendsNothingIsNoTrack(direction: Direction) throws
  {
    #expect(OfferedTrack(try section(direction: direction), mids: [:], codecs: [:]) == nil)
  }

  /// Subscribed to anew between two offers, a track has the same SID and another source, or another section.
  @Test func aTrackGoesOnOnlyFromItsSource() throws {
    let track = try #require(OfferedTrack(try section(), mids: [:], codecs: [:]))
    #expect(try #require(OfferedTrack(try section(), mids: [:], codecs: [:])).continues(track))
    #expect(try !#require(OfferedTrack(try section(ssrc: 11), mids: [:], codecs: [:])).continues(track))
    #expect(try !#require(OfferedTrack(try section(mid: "2"), mids: [:], codecs: [:])).continues(track))
  }

  // MARK: What is received

  /// - Returns: what is received of it from now on.
  private func add(
    _ track: OfferedTrack, to tracks: inout ReceivedTracks, on loop: TransportLoop
  ) throws -> TrackMedia {
    _ = tracks.add(track, on: loop, onOtherCodec: { _ in }, onStream: { _ in })
    let media = tracks.media[track.sid]
    return try #require(media)
  }

  /// Whoever looks while what it was is being closed finds that, and not a track that is gone.
  @Test func aTrackThatChangesItsCodecIsThereMeanwhile() async throws {
    let loop = TransportLoop(name: "codecs")
    var tracks = ReceivedTracks(factory: PipelineFactory(folder: nil), latency: nil, logger: Loggers().pipelines)
    let track = try #require(OfferedTrack(try section(), mids: [:], codecs: ["TR_VC": ["video/VP9"]]))
    let first = try add(track, to: &tracks, on: loop)
    let (none, closed) = (tracks.change("TR_VC", to: "VP9"), tracks.change("TR_VC", to: "VP8"))
    #expect(none == nil && closed === first)
    // It may be yet another one by then, and is closed once.
    let again = tracks.change("TR_VC", to: "H264")
    #expect(again == nil && tracks.media["TR_VC"] === first && tracks.ended(by: ["TR_VC": track]).isEmpty)
    let changed = try #require(tracks.sent["TR_VC"])
    let next = try add(changed, to: &tracks, on: loop)
    #expect(next.codec == "h264" && next.isContinuation && !first.isContinuation)
    await first.close()
    let removed = tracks.remove("TR_VC")
    #expect(removed === next)
    await next.close()
    await loop.stop()
  }

  /// What comes under its SID later is another stream.
  @Test func aTrackMayEndWhileItChangesItsCodec() async throws {
    let loop = TransportLoop(name: "codecs")
    var tracks = ReceivedTracks(factory: PipelineFactory(folder: nil), latency: nil, logger: Loggers().pipelines)
    let track = try #require(OfferedTrack(try section(), mids: [:], codecs: ["TR_VC": ["video/VP9"]]))
    let first = try add(track, to: &tracks, on: loop)
    let closed = tracks.change("TR_VC", to: "VP8")
    let removed = tracks.remove("TR_VC")
    #expect(closed === first && removed == nil && tracks.media.isEmpty && tracks.sent.isEmpty)
    let next = try add(track, to: &tracks, on: loop)
    #expect(!next.isContinuation)
    for media in [first, next] { await media.close() }
    await loop.stop()
  }

  // MARK: What arrives

  private func packet(
    _ payloadType: UInt8, _ number: UInt16, _ payload: [UInt8] = [0x65, 1, 2, 3], padding: UInt8 = 0
  ) -> RTPPacket {
    RTPPacket(
      payloadType: PayloadType(payloadType), sequenceNumber: SequenceNumber(number), timestamp: UInt32(number) * 3000,
      ssrc: SSRC(10), payload: padding > 0 ? [] : payload, padding: padding)
  }

  private func receiving(
    _ onOtherCodec: @escaping (String) -> Void
  ) throws -> (track: OfferedTrack, reception: TrackReception) {
    let track = try #require(OfferedTrack(try section(), mids: [:], codecs: ["TR_VC": ["video/H264"]]))
    return (track, reception(of: track, onOtherCodec))
  }

  private func reception(
    of track: OfferedTrack, _ onOtherCodec: @escaping (String) -> Void = { _ in }
  ) -> TrackReception {
    TrackReception(
      track, clock: ParticipantClock(), configuration: .init(track), onOtherCodec: onOtherCodec, onStream: { _ in })
  }

  /// A file of them shows the smallest, or nothing, so that it has to be known before there is one, and when they come
  /// later, too.
  @Test(
    arguments: [
      // The structure of a keyframe, which says so before a server has sent any other layer.
      ([0x8e, 1, 0x20, 0x82], true), ([0x8e, 1, 0x00, 0x82], false),
      // The second spatial layer of a picture; an upper temporal layer.
      ([0xa8, 1, 0x02, 0, 0x86], true), ([0xe8, 1, 0x40, 0, 0x86], false),
    ] as [([UInt8], Bool)])
  func spatialLayersOfVP9AreNoticed(payload: [UInt8], areThere: Bool) throws {
    let track = try #require(OfferedTrack(try section(), mids: [:], codecs: ["TR_VC": ["video/VP9"]]))
    let reception = TrackReception(
      track, clock: ParticipantClock(), configuration: .init(track), onOtherCodec: { _ in }, onStream: { _ in })
    let known = Locked<Bool?>(nil)
    reception.onFlow { [form = reception.form] in known.withLock { $0 = form.isLayered } }
    func receive(_ number: UInt16, _ payload: [UInt8]) {
      let packet = RTPPacket(
        payloadType: PayloadType(98), sequenceNumber: SequenceNumber(number), timestamp: UInt32(number) * 3000,
        ssrc: SSRC(10), marker: true, payload: payload)
      reception.receive(packet, at: .now)
    }
    receive(1, payload)
    #expect(reception.form.isLayered == areThere)
    // Whoever waits for the first keyframe knows it.
    if payload[0] == 0x8e { #expect(known.withLock { $0 } == areThere) }
    receive(2, [0x8e, 2, 0x00, 0x82])
    #expect(reception.form.isLayered == areThere, "they may come back")
  }

  @Test func anotherCodecIsTold() throws {
    var told: [String] = []
    let (track, reception) = try receiving { told.append($0) }
    let now = MediaTime.now
    reception.receive(packet(125, 1), at: now)
    // Another variant of the same codec, and a probe without a payload, are nothing new.
    reception.receive(packet(108, 2), at: now)
    reception.receive(packet(96, 3, padding: 20), at: now)
    #expect(told.isEmpty)
    for number in 4...6 { reception.receive(packet(98, UInt16(number)), at: now) }
    #expect(told == ["VP9"])
    #expect(track.received(as: "VP9")?.format?.payloadType == PayloadType(98))
  }

  /// No keyframe has to be asked for then: the one with which it began comes once.
  @Test func whatCameBeforeTheOtherCodecIsReadIsNotLost() throws {
    let (track, before) = try receiving { _ in }
    let now = MediaTime.now
    before.receive(packet(125, 1), at: now)
    let keyframe = [packet(98, 2, [0x08, 0x82, 1, 2]), packet(98, 3, [0x04, 3, 4, 5])]
    for packet in keyframe { before.receive(packet, at: now) }
    let next = reception(of: try #require(track.received(as: "VP9")))
    var begins = 0
    next.onFlow { begins += 1 }
    let last = before.statistics
    before.handOver(to: next)
    #expect(begins == 1)
    // What the one before kept unread is counted once.
    let sum = MediaCounts(reception: last, decoder: .init()).added(to: next.statistics).rtp
    #expect(sum.packetsReceived == 3 && sum.bytesReceived == 12)
    #expect(next.statistics.rtp.packetsReceived == 2)
    before.handOver(to: next)
    #expect(next.statistics.rtp.packetsReceived == 2)
  }

  /// It was lost before the change, and is repeated behind it.
  @Test func aLatePacketOfTheCodecBeforeChangesNothingBack() throws {
    var told: [String] = []
    let reception = try receiving { told.append($0) }.reception
    let now = MediaTime.now
    reception.receive(packet(125, 10), at: now)
    reception.receive(packet(98, 9), at: now)
    #expect(told.isEmpty)
    reception.receive(packet(98, 11), at: now)
    #expect(told == ["VP9"])
  }

  /// Numbers from before that say nothing of what is late.
  @Test func aSenderThatCountsAnewMayChangeItsCodec() throws {
    var told: [String] = []
    let reception = try receiving { told.append($0) }.reception
    let now = MediaTime.now
    reception.receive(packet(125, 30_000), at: now)
    for number in [20_000, 20_001] as [UInt16] { reception.receive(packet(98, number), at: now) }
    #expect(told == ["VP9"])
  }
}
