import Foundation
import LiveKitProtocol
public import Logging
public import MediaBridge
import MediaCore
import MediaPipelines
import PeerTransport
import RTP
import SDP
import SignalTransport

/// One capture template that is published as one track.
public struct CaptureOptions: Sendable {
  /// The name of a text of kind `capture`.
  public var template: String
  /// What the text makes: video or audio.
  public var kind: Track.Kind
  /// What the track is announced as.
  public var source: Track.Source
  /// `VP8`, `VP9`, `H264`, `H265` or `opus`: what the template's encoder makes.
  public var codec: String
  /// Size that the track is announced with, in pixels; nil for audio.
  public var dimensions: Dimensions?
  /// Values for the template's variables.
  public var values: [String: String]
  /// Sent over and over, in its layers, instead of what the template makes.
  package var clip: CaptureClip?

  /// - Parameter codec: what the template's encoder makes, by its SDP name.
  public init(
    template: String, kind: Track.Kind, source: Track.Source, codec: String, dimensions: Dimensions? = nil,
    values: [String: String] = [:]
  ) {
    self.template = template
    self.kind = kind
    self.source = source
    self.codec = codec
    self.dimensions = dimensions
    self.values = values
  }
}

/// A participant that publishes what capture templates make: the demo's and the tests' sender.
public actor CapturePublisher {
  /// What it publishes, as it was made.
  public nonisolated let captures: [CaptureOptions]
  private let factory: PipelineFactory
  private let logger: Logger
  private let loop = TransportLoop(name: "mediabridge-pub")
  private var link = Link()
  private var negotiator: Negotiator?
  private var streams: [any OutgoingStream] = []
  private let connected = Outcome<Void, LiveKitError>()
  private let ended = Outcome<Void, LiveKitError>()
  private var candidates = PendingCandidates()
  /// Of the tracks, by the ids that they have here.
  private var sids: [String: String] = [:]

  /// Both connections with the server.
  private struct Link {
    var signal: SignalClient?
    var reader: Task<Void, Never>?
    var peer: PeerConnection?
    /// Held here, since a peer holds its delegate weakly.
    var observer: PeerObserver?
  }

  /// Nothing is made before `connect(url:token:)`.
  /// - Parameter logger: told the steps of connecting, at debug level.
  public init(
    captures: [CaptureOptions], pipelineFolder: String? = nil, logger: Logger = Logger(label: "mediabridge.publisher")
  ) {
    (self.captures, self.logger) = (captures, logger)
    factory = PipelineFactory(folder: pipelineFolder)
  }

  /// Joins and starts to send; returns when the connection stands.
  /// - Throws: before that, for values that the texts do not have or cannot take.
  public func connect(url text: String, token: String) async throws(LiveKitError) {
    for capture in captures where capture.clip == nil {
      try LiveKitError.wrapping { () throws(PipelineFailure) in
        try PipelineFactory(store: factory.store, overrides: capture.values)
          .check([TemplateName(.capture, capture.template)])
      }
    }
    do throws(SignalError) {
      let url = try SignalURL(text)
      let signal = SignalClient(url: url, token: token)
      try await signal.open(SignalQuery(autoSubscribe: false, userAgent: MediaBridgeSDK.userAgent))
      link.signal = signal
      makePeer(localAddresses: url.loopbackAddresses)
      link.reader = Task { await self.read(signal) }
    } catch {
      throw LiveKitError(error)
    }
    do throws(LiveKitError) {
      try await connected.value()
      for stream in streams { try stream.start() }
    } catch {
      await disconnect()
      throw error
    }
  }

  /// Returns after `disconnect()`.
  /// - Throws: why nothing can be published any more; a connection that is lost is not brought back.
  public func untilEnded() async throws(LiveKitError) { try await ended.value() }

  /// Leaves. When it returns no thread, socket or pipeline of it is left.
  public func disconnect() async {
    ended.settle(.success(()))
    for stream in streams { await stream.stop() }
    streams = []
    link.signal?.send(.goodbye)
    await link.signal?.close()
    link.reader?.cancel()
    await link.peer?.close()
    await loop.stop()
  }

  private func makePeer(localAddresses: [String]) {
    var configuration = PeerConfiguration(isControlling: true, logger: logger)
    configuration.localAddresses = localAddresses
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
    case .join: for (index, capture) in captures.enumerated() { announce(capture, index) }
    case .trackPublished(let response):
      sids[response.cid] = response.track.sid
      await published()
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

  private static func cid(_ index: Int) -> String { "capture-\(index)" }

  private func announce(_ capture: CaptureOptions, _ index: Int) {
    var request = Livekit_SignalRequest()
    request.addTrack.cid = Self.cid(index)
    request.addTrack.name = capture.kind == .video ? Track.cameraName : Track.microphoneName
    request.addTrack.type = capture.kind == .video ? .video : .audio
    request.addTrack.source = capture.kind == .video ? .camera : .microphone
    request.addTrack.width = UInt32(clamping: capture.dimensions?.width ?? 0)
    request.addTrack.height = UInt32(clamping: capture.dimensions?.height ?? 0)
    request.addTrack.stereo = capture.kind == .audio
    request.addTrack.layers = capture.clip?.layers.enumerated().map { index, layer in layer.announced(as: index) } ?? []
    link.signal?.send(request)
  }

  // MARK: What a participant says of its tracks

  /// Lets everyone receive what is published here, or nobody.
  package func setTrackSubscriptionPermissions(allParticipantsAllowed: Bool) {
    var request = Livekit_SignalRequest()
    request.subscriptionPermission.allParticipants = allParticipantsAllowed
    link.signal?.send(request)
  }

  /// Says that the tracks of a kind are muted, or not any more. What is sent goes on, as a muted microphone's silence.
  package func set(muted: Bool, of kind: Track.Kind) {
    for (index, capture) in captures.enumerated() where capture.kind == kind {
      var request = Livekit_SignalRequest()
      request.mute.sid = sids[Self.cid(index)] ?? ""
      request.mute.muted = muted
      link.signal?.send(request)
    }
  }

  // MARK: Publishing

  private var publishedCount = 0

  private func published() async {
    publishedCount += 1
    guard publishedCount == captures.count, let peer = link.peer,
      let local = await peer.localParameters(setup: .actpass),
      let transport = local.localTransport(preferring: .actpass)
    else { return }
    var negotiator = Negotiator(sessionID: .random(in: 1..<(1 << 62)), transport: transport)
    for (index, capture) in captures.enumerated() {
      let stream: any OutgoingStream =
        capture.clip.map { ClipStream($0, codec: capture.codec, loop: loop, peer: peer) }
        ?? CaptureStream(capture, factory: factory, peer: peer)
      streams.append(stream)
      _ = negotiator.add(stream.sendingTrack(cid: Self.cid(index)))
    }
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
    for report in reports {
      for stream in streams { stream.receive(report, at: time) }
    }
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
