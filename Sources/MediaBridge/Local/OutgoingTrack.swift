import GStreamerKit
import LiveKitProtocol
import MediaCore
import MediaPipelines
import PeerTransport
import RTP
import SDP

/// A local track on its way to the server, in all its layers: made for one session.
final class OutgoingTrack: Sendable {
  /// By which the server knows it before it has a SID.
  let cid: String
  let plan: PublishPlan
  /// From the smallest on.
  let layers: [OutgoingLayer]
  private let opus = OpusFormat()
  /// Whether what its source carries is of its codec.
  private let carried = Locked(CapsReading<Bool>())
  /// Of video that is sent as it is.
  private let watch = Locked(StreamWatch())
  /// Of video that is encoded.
  private let cut: Locked<LayerCut>
  private let onResize = Locked<(@Sendable (Dimensions) -> Void)?>(nil)
  /// Whether what came last was as its source carries it; nil before anything.
  let comesEncoded = Locked<Bool?>(nil)
  private let onFailure: @Sendable (LiveKitError) -> Void
  /// Nil before it is stopped.
  private let end = Locked<Task<Void, Never>?>(nil)

  /// - Parameter onFailure: told when it cannot be encoded or sent, on any thread.
  init(
    cid: String, _ plan: PublishPlan, peer: PeerConnection, link: OutgoingLink, factory: PipelineFactory,
    onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) {
    (self.cid, self.plan, self.onFailure) = (cid, plan, onFailure)
    cut = Locked(LayerCut(plan))
    var layers: [OutgoingLayer] = []
    for rank in plan.layers.indices {
      let stream = OutgoingRTP(peer: peer, link: link, rank: plan.isVideo ? rank : nil)
      layers.append(try OutgoingLayer(rank, of: plan, stream: stream, factory: factory, onFailure: onFailure))
    }
    self.layers = layers
  }

  private var rids: [String] { layers.count > 1 ? plan.layers.map(\.rid) : [] }

  // MARK: Negotiation

  var sendingTrack: SendingTrack {
    let alone = rids.isEmpty ? layers.first?.stream : nil
    var uris = [HeaderExtensionURI.transportCC, HeaderExtensionURI.mid]
    if !rids.isEmpty { uris.append(HeaderExtensionURI.rtpStreamID) }
    if !plan.isVideo { uris.append(HeaderExtensionURI.audioLevel) }
    return SendingTrack(
      kind: plan.isVideo ? .video : .audio, msid: MediaStreamID(stream: OutgoingRTP.cname, track: cid),
      codecs: codecs,
      headerExtensions: CodecCatalogue.extensions(uris), cname: OutgoingRTP.cname, ssrc: alone?.ssrc,
      rtxSSRC: plan.isVideo ? alone?.rtxSSRC : nil, rids: rids)
  }

  /// A server looks among them for what it may have of the track, so the other codec is there, too.
  private var codecs: [Codec] {
    guard plan.isVideo else { return plan.isRedundant ? CodecCatalogue.opusInRED : CodecCatalogue.opus }
    return [plan.codec, plan.backup?.codec].compactMap(\.self).flatMap(CodecCatalogue.video)
  }

  private func format(in section: NegotiatedSection) -> NegotiatedSection.Format? {
    plan.isVideo ? section.formats.first { $0.codec.isNamed(plan.codec) } : section.formats.first
  }

  func negotiated(_ section: NegotiatedSection) {
    guard section.isAccepted, let format = format(in: section) else {
      return onFailure(
        LiveKitError(.unsupportedCodec, "the server takes no \(plan.codec.uppercased())", fault: .server))
    }
    func element(_ uri: String, _ value: String) -> [(id: UInt8, value: [UInt8])] {
      section.extensionID(uri).map { [(id: $0, value: Array(value.utf8))] } ?? []
    }
    let mid = element(HeaderExtensionURI.mid, section.mid)
    for (layer, described) in zip(layers, plan.layers) {
      let rid = rids.isEmpty ? [] : element(HeaderExtensionURI.rtpStreamID, described.rid)
      layer.stream.negotiated(
        OutgoingRTP.Format(
          payloadType: format.payloadType, redundant: format.codec.redundantPayloadTypes.first,
          clockRate: format.codec.clockRate, rtx: rids.isEmpty ? format.rtx : nil, extensions: mid + rid,
          numberID: section.extensionID(HeaderExtensionURI.transportCC),
          levelID: plan.isVideo ? nil : section.extensionID(HeaderExtensionURI.audioLevel)))
    }
  }

  // MARK: Media

  /// Called on a media thread.
  /// - Parameter colors: those of its frames, for all that send them.
  /// - Returns: why video cannot be sent any more as its source carries it; nil while it can.
  func take(_ captured: CapturedMedia, _ colors: FrameColors) -> String? {
    comesEncoded.withLock { $0 = captured.isEncoded }
    if !plan.isVideo, !captured.isEncoded { setLevel(of: captured) }
    if captured.isEncoded {
      let isOurs = carried.withLock { carried in
        carried.value(of: captured.media.caps) { $0.mediaType.hasSuffix("/x-\(plan.codec)") }
      }
      if isOurs, !plan.isVideo || captured.fitsPackets { for layer in layers { layer.pass(captured) } }
      return plan.isVideo ? watch.withLock { $0.note(captured) } : nil
    }
    if plan.isVideo { takeFrame(captured, colors) } else { takeAudio(captured) }
    return nil
  }

  /// Takes what was decoded of audio that is sent as its source carries it, to know how loud it is. Called on a media
  /// thread.
  func measure(_ decoded: CapturedMedia) {
    if comesEncoded.withLock({ $0 }) == true { setLevel(of: decoded) }
  }

  /// Nobody knows how loud it is any more.
  func forgetLevel() { for layer in layers { layer.stream.set(level: nil) } }

  private func setLevel(of audio: CapturedMedia) {
    let level = AudioLevel(audio.media)
    for layer in layers { layer.stream.set(level: level) }
  }

  /// What it is to send cannot be decoded.
  func failed(_ error: LiveKitError) { onFailure(error) }

  private func takeAudio(_ captured: CapturedMedia) {
    guard let pieces = opus.convert(captured) else { return encode(captured) }
    for piece in pieces { encode(piece) }
  }

  private func encode(_ audio: CapturedMedia) {
    for layer in layers { layer.take(at: audio.time, of: nil) { audio.media } }
  }

  private func takeFrame(_ captured: CapturedMedia, _ colors: FrameColors) {
    let size = VideoFrame(captured).map { follow($0.uprightSize, at: captured.time) }
    for layer in layers { layer.take(at: captured.time, of: size) { colors.convert(captured.media) } }
  }

  /// - Parameter size: of a frame as it is seen.
  /// - Returns: the size for which frames are encoded now, into which that one is fitted.
  private func follow(_ size: Dimensions, at time: MediaTime) -> Dimensions {
    let (current, new) = cut.withLock { cut -> (Dimensions, [PublishPlan.Layer]?) in
      let areOthers = cut.note(size, at: time)
      return (cut.size ?? size, areOthers ? cut.layers : nil)
    }
    guard let new else { return current }
    for (layer, described) in zip(layers, new) { layer.aim(at: described) }
    if let largest = new.last?.size { onResize.withLock { $0 }?(largest) }
    return current
  }

  /// Calls `handler` from now on with the size of its largest layer when that is another one, on a media thread.
  func onResize(_ handler: @escaping @Sendable (Dimensions) -> Void) { onResize.withLock { $0 = handler } }

  /// Takes what the server reports of any stream of the connection, and does what it asks for. On the transport's loop.
  func receive(_ report: RTCPPacket, at time: MediaTime) {
    for layer in layers { layer.receive(report, at: time) }
  }

  /// Nothing is sent while it is muted; then it begins anew, with a keyframe.
  func set(muted: Bool) { for layer in layers { layer.set(muted: muted) } }

  /// Which layers somebody receives, as the server says.
  func set(_ qualities: [Livekit_SubscribedQuality]) {
    for quality in qualities where layers.indices.contains(quality.quality.rawValue) {
      layers[quality.quality.rawValue].set(paused: !quality.enabled)
    }
  }

  var streams: [OutgoingRTP] { layers.map(\.stream) }

  /// Nothing is sent any more when it returns. Its session and its connection may both stop it, at the same time.
  func stop() async {
    let task = end.withLock { end -> Task<Void, Never> in
      let begun = end ?? Task { for layer in layers { await layer.stop() } }
      end = begun
      return begun
    }
    await task.value
  }
}

extension PublishPlan {
  /// What the server is told of it.
  func announcement(cid: String, track: Track) -> Livekit_SignalRequest {
    var request = Livekit_SignalRequest()
    request.addTrack.cid = cid
    request.addTrack.name = name
    request.addTrack.type = track.kind == .video ? .video : .audio
    request.addTrack.source = Livekit_TrackSource(track.source)
    request.addTrack.muted = track.isMuted
    guard let size = layers.last?.size else {
      request.addTrack.stereo = true
      (request.addTrack.disableDtx, request.addTrack.disableRed) = (!isDiscontinuous, !isRedundant)
      return request
    }
    if let backup {
      request.addTrack.simulcastCodecs = [Self.described(codec, cid), Self.described(backup.codec)]
      request.addTrack.backupCodecPolicy = Livekit_BackupCodecPolicy(backup.policy)
    }
    request.addTrack.width = UInt32(clamping: size.width)
    request.addTrack.height = UInt32(clamping: size.height)
    request.addTrack.layers = layers.enumerated().map { index, layer in
      var described = Livekit_VideoLayer()
      described.quality = layers.count == 1 ? .high : Livekit_VideoQuality(rawValue: index) ?? .high
      described.width = UInt32(clamping: layer.size?.width ?? 0)
      described.height = UInt32(clamping: layer.size?.height ?? 0)
      described.bitrate = UInt32(clamping: layer.bitrate ?? 0)
      return described
    }
    return request
  }

  /// What the server is told of a track that it knows, when it comes in its other codec, too.
  /// - Parameter sid: by which the server knows it.
  func backupAnnouncement(cid: String, track: Track, sid: String) -> Livekit_SignalRequest {
    var request = announcement(cid: cid, track: track)
    request.addTrack.sid = sid
    request.addTrack.simulcastCodecs = [Self.described(codec, cid)]
    return request
  }

  /// Without a `cid` it is not sent yet.
  private static func described(_ codec: String, _ cid: String = "") -> Livekit_SimulcastCodec {
    var described = Livekit_SimulcastCodec()
    (described.codec, described.cid) = (codec, cid)
    described.videoLayerMode = .oneSpatialLayerPerStream
    return described
  }
}

extension Livekit_TrackSource {
  fileprivate init(_ source: Track.Source) {
    self =
      switch source {
      case .unknown: .unknown
      case .camera: .camera
      case .microphone: .microphone
      case .screenShareVideo: .screenShare
      case .screenShareAudio: .screenShareAudio
      }
  }
}
