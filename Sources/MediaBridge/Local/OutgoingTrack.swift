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
  private let layers: [OutgoingLayer]
  private let onFailure: @Sendable (LiveKitError) -> Void

  /// - Parameter onFailure: told when it cannot be encoded or sent, on any thread.
  init(
    cid: String, _ plan: PublishPlan, peer: PeerConnection, factory: PipelineFactory,
    onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) {
    (self.cid, self.plan, self.onFailure) = (cid, plan, onFailure)
    var layers: [OutgoingLayer] = []
    for layer in plan.layers {
      layers.append(
        try OutgoingLayer(
          layer, of: plan, stream: OutgoingRTP(peer: peer), factory: factory, onFailure: onFailure))
    }
    self.layers = layers
  }

  private var isVideo: Bool { plan.codec != "opus" }
  private var rids: [String] { layers.count > 1 ? plan.layers.map(\.rid) : [] }

  // MARK: Negotiation

  var sendingTrack: SendingTrack {
    let alone = rids.isEmpty ? layers.first?.stream : nil
    let uris = rids.isEmpty ? [HeaderExtensionURI.mid] : [HeaderExtensionURI.mid, HeaderExtensionURI.rtpStreamID]
    return SendingTrack(
      kind: isVideo ? .video : .audio, msid: MediaStreamID(stream: OutgoingRTP.cname, track: cid),
      codecs: isVideo ? CodecCatalogue.video(named: plan.codec) : CodecCatalogue.opus,
      headerExtensions: CodecCatalogue.extensions(uris), cname: OutgoingRTP.cname, ssrc: alone?.ssrc,
      rtxSSRC: isVideo ? alone?.rtxSSRC : nil, rids: rids)
  }

  func negotiated(_ section: NegotiatedSection) {
    guard section.isAccepted, let format = section.formats.first else {
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
          payloadType: format.payloadType, clockRate: format.codec.clockRate, rtx: rids.isEmpty ? format.rtx : nil,
          extensions: mid + rid))
    }
  }

  // MARK: Media

  /// Called on a media thread.
  func take(_ captured: CapturedMedia) {
    let size = isVideo ? VideoFrame(captured)?.uprightSize : nil
    for layer in layers { layer.take(captured, of: size) }
  }

  /// Takes what the server reports of any stream of the connection, and does what it asks for. On the transport's loop.
  func receive(_ report: RTCPPacket, at time: MediaTime) {
    for layer in layers where layer.stream.receive(report, at: time) { layer.requestKeyframe() }
  }

  /// Begins anew with the next media, with a keyframe.
  func reset() { for layer in layers { layer.reset() } }

  /// Which layers somebody receives, as the server says.
  func set(_ qualities: [Livekit_SubscribedQuality]) {
    for quality in qualities where layers.indices.contains(quality.quality.rawValue) {
      layers[quality.quality.rawValue].set(paused: !quality.enabled)
    }
  }

  var streams: [OutgoingRTP] { layers.map(\.stream) }

  /// Nothing is sent any more when it returns.
  func stop() async {
    for layer in layers { await layer.stop() }
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
      (request.addTrack.disableDtx, request.addTrack.disableRed) = (true, true)
      return request
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
