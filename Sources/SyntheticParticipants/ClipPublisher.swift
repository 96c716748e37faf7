import LiveKitProtocol
import Logging
package import MediaBridge
import MediaCore
import PeerTransport
import RTP
import SDP
import SignalTransport

/// A participant whose camera is a clip that is encoded already, in all its layers, and its microphone another one: for
/// benchmarks, in which sending is all that it may cost, and for tests that need what no encoder of ours sends.
package actor ClipPublisher {
  private let clips: [CaptureClip]
  private let codec: String
  private let loop = TransportLoop(name: "mediabridge-pub")
  private var link = Link()
  private var negotiator: Negotiator?
  /// Of the clips; empty until the server knows of all of them.
  private var streams: [ClipStream] = []
  private var known = 0
  private let connected = Outcome<Void, LiveKitError>()
  private let ended = Outcome<Void, LiveKitError>()
  private var isOver = false
  private var candidates = PendingCandidates()

  /// Both connections with the server.
  private struct Link {
    var signal: SignalClient?
    var reader: Task<Void, Never>?
    var peer: PeerConnection?
    /// Held here, since a peer holds its delegate weakly.
    var observer: PeerObserver?
  }

  /// Nothing is made before `connect(url:token:)`.
  /// - Parameters:
  ///   - clip: of video.
  ///   - codec: of that, by its SDP name.
  ///   - audio: what the microphone hears; nil for none.
  package init(_ clip: CaptureClip, codec: String, audio: CaptureClip? = nil) {
    clips = [clip] + (audio.map { [$0] } ?? [])
    self.codec = codec
  }

  /// Joins and starts to send; returns when the connection stands.
  package func connect(url text: String, token: String) async throws(LiveKitError) {
    do throws(SignalError) {
      let url = try SignalURL(text)
      let signal = SignalClient(url: url, token: token)
      try await signal.open(SignalQuery(autoSubscribe: false, userAgent: MediaBridgeSDK.userAgent))
      link.signal = signal
      makePeer(isServerOnLoopback: url.isLoopback)
      link.reader = Task { await self.read(signal) }
    } catch {
      throw LiveKitError(error)
    }
    do throws(LiveKitError) { try await connected.value() } catch {
      await disconnect()
      throw error
    }
    for stream in streams { stream.start() }
  }

  /// Returns after `disconnect()`.
  /// - Throws: why nothing can be published any more; a connection that is lost is not brought back.
  package func untilEnded() async throws(LiveKitError) { try await ended.value() }

  /// Leaves. When it returns no thread or socket of it is left. A second call does nothing.
  package func disconnect() async {
    guard !isOver else { return }
    isOver = true
    ended.settle(.success(()))
    for stream in streams { stream.stop() }
    link.signal?.send(.goodbye)
    await link.signal?.close()
    link.reader?.cancel()
    await link.peer?.close()
    await loop.stop()
  }

  private func makePeer(isServerOnLoopback: Bool) {
    var configuration = PeerConfiguration(isControlling: true, logger: Logger(label: "mediabridge.clip"))
    configuration.isServerOnLoopback = isServerOnLoopback
    var handlers = PeerObserver.Handlers()
    handlers.candidate = { [weak self] candidate in Task { await self?.trickle(candidate) } }
    handlers.state = { [weak self] state in Task { await self?.changed(state) } }
    handlers.reports = { [weak self] reports, time in Task { await self?.receive(reports, at: time) } }
    let observer = PeerObserver(loop: loop, handlers: handlers)
    link.observer = observer
    link.peer = PeerConnection(loop: loop, configuration: configuration, delegate: observer)
  }

  // MARK: Signalling

  private func read(_ signal: SignalClient) async {
    let reason = await signal.read { await receive($0) }
    fail(LiveKitError(reason ?? .closed("no reason given")))
  }

  private func receive(_ message: Livekit_SignalResponse.OneOf_Message) async {
    switch message {
    case .join: announce()
    case .trackPublished:
      known += 1
      if known == clips.count { await offer() }
    case .answer(let answer): receive(answer)
    case .trickle(let trickle):
      guard trickle.target == .publisher, let candidate = CandidateInit.parse(trickle.candidateInit) else { return }
      if candidates.isReady(candidate) { link.peer?.add(remoteCandidate: candidate) }
    case .leave(let leave): fail(LiveKitError(leave.reason))
    default: break
    }
  }

  /// Whoever waits for the connection, or for its end, is told.
  private func fail(_ error: LiveKitError) {
    connected.settle(.failure(error))
    ended.settle(.failure(error))
  }

  private func announce() {
    for clip in clips {
      var request = Livekit_SignalRequest()
      request.addTrack = clip.announced
      link.signal?.send(request)
    }
  }

  private func offer() async {
    guard let peer = link.peer, let local = await peer.localParameters(setup: .actpass),
      let transport = local.localTransport(preferring: .actpass)
    else { return }
    var negotiator = Negotiator(sessionID: .random(in: 1..<(1 << 62)), transport: transport)
    streams = clips.map { ClipStream($0, codec: codec, loop: loop, peer: peer) }
    for (clip, stream) in zip(clips, streams) { _ = negotiator.add(stream.sendingTrack(cid: clip.cid)) }
    guard let offer = negotiator.makeOffer() else { return }
    self.negotiator = negotiator
    var request = Livekit_SignalRequest()
    request.offer.type = "offer"
    request.offer.sdp = offer.description
    link.signal?.send(request)
  }

  private func receive(_ message: Livekit_SessionDescription) {
    guard let answer = try? SDP.SessionDescription(parsing: message.sdp), let remote = TransportParameters(answer),
      let sections = try? negotiator?.accept(answer)
    else { return fail(LiveKitError(.network, "the server's answer cannot be used")) }
    for (stream, section) in zip(streams, sections) { stream.negotiated(section) }
    link.peer?.connect(to: remote, isDTLSClient: remote.setup == .passive)
    for candidate in candidates.described(with: answer.media.flatMap(\.candidates)) {
      link.peer?.add(remoteCandidate: candidate)
    }
  }

  private func trickle(_ candidate: String) { link.signal?.send(.trickle(candidate, for: .publisher)) }

  private func changed(_ state: PeerState) {
    switch state {
    case .connected: connected.settle(.success(()))
    case .failed(let error): fail(LiveKitError(error))
    default: break
    }
  }

  private func receive(_ reports: [RTCPPacket], at time: MediaTime) {
    for stream in streams { for report in reports { stream.receive(report, at: time) } }
  }
}

extension CaptureClip {
  /// Of its track.
  fileprivate var cid: String { "clip-\(kind)" }

  fileprivate var announced: Livekit_AddTrackRequest {
    let largest = layers.last?.dimensions
    var request = Livekit_AddTrackRequest()
    request.cid = cid
    request.name = kind == .video ? Track.cameraName : Track.microphoneName
    request.type = kind == .video ? .video : .audio
    request.source = kind == .video ? .camera : .microphone
    request.width = UInt32(clamping: largest?.width ?? 0)
    request.height = UInt32(clamping: largest?.height ?? 0)
    request.layers = layers.enumerated().map { index, layer in layer.announced(as: index) }
    return request
  }
}

extension CaptureClip.Layer {
  fileprivate func announced(as index: Int) -> Livekit_VideoLayer {
    var layer = Livekit_VideoLayer()
    layer.quality = Livekit_VideoQuality(rawValue: index) ?? .high
    layer.width = UInt32(clamping: dimensions.width)
    layer.height = UInt32(clamping: dimensions.height)
    layer.bitrate = UInt32(clamping: bitrate)
    return layer
  }
}
