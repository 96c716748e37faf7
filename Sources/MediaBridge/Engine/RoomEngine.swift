import Foundation
import GStreamerKit
import LiveKitProtocol
import Logging
import MediaCore
import PeerTransport
import SignalTransport

/// Runs one connection to a room: what the server says becomes participants, publications, tracks and events.
actor RoomEngine {
  /// Held until the connection has ended, when the room forgets its engine: what still arrives has somewhere to go.
  let room: Room
  let options: RoomOptions
  private let factory: PipelineFactory
  private(set) var signal: SignalConnection?
  private(set) var subscriber: SubscriberTransport?
  private(set) var statistics: StatisticsReporter?
  /// Nil when nothing is to be played.
  private(set) var playback: Playback?
  private(set) var autoSubscribe = true
  /// What the server is about to be told of tracks, the task that does, and who waits for it.
  var settings = SettingsSchedule()
  var settingsTeller: (deadline: MediaTime, task: Task<Void, Never>)?
  var settingsWaiters: [CheckedContinuation<Void, any Error>] = []
  /// Asks renderers what they need, now and then.
  var demandWatcher: Task<Void, Never>?
  var demandReading = DemandReading.none
  /// Measures how tracks arrive, where audio fallback is on.
  var congestionWatcher: Task<Void, Never>?
  private var reader: Task<Void, Never>?
  private let connected = Outcome<Void, LiveKitError>()
  private(set) var isOver = false
  private var ending: Task<Void, Never>?
  private var timeout = ConnectOptions().timeout
  let logger = Logger(label: "mediabridge.room")

  init(room: Room, options: RoomOptions) {
    self.room = room
    self.options = options
    factory = PipelineFactory(folder: options.pipelineFolder, overrides: options.pipelineValues)
  }

  // MARK: Connecting

  func connect(url text: String, token: String, options connect: ConnectOptions) async throws(LiveKitError) {
    autoSubscribe = connect.autoSubscribe ?? options.autoSubscribe
    timeout = connect.timeout
    do { try GStreamer.initialize() } catch { throw LiveKitError(.pipeline, "GStreamer cannot start: \(error)") }
    let url: SignalURL
    let signal: SignalConnection
    do throws(SignalError) {
      url = try SignalURL(text)
      signal = try await SignalConnection.connect(
        to: url, token: token, query: SignalQuery(autoSubscribe: autoSubscribe, adaptiveStream: usesAdaptiveStream),
        timeout: connect.timeout)
    } catch {
      throw LiveKitError(error)
    }
    guard !isOver else {
      await signal.close()
      throw LiveKitError(.cancelled, "the connection was given up")
    }
    logger.debug("signal connected", metadata: ["server": "\(url.server)"])
    self.signal = signal
    reader = Task { await self.read(signal, localAddresses: url.loopbackAddresses) }
    // The transport knows better what is wrong, so it is given its time first.
    let limit = Task { [connected, timeout] in
      try await Task.sleep(for: timeout + .seconds(1))
      connected.settle(
        .failure(LiveKitError(.timedOut, "\(url.server) accepted the join but offered no media connection")))
    }
    defer { limit.cancel() }
    try await connected.value()
  }

  private func read(_ signal: SignalConnection, localAddresses: [String]) async {
    for await response in signal.responses {
      await handle(response, localAddresses)
      if isOver { return }
    }
    let reason = signal.closeReason ?? .closed("no reason given")
    await end(with: LiveKitError(reason))
  }

  private func handle(_ response: Livekit_SignalResponse, _ localAddresses: [String]) async {
    guard !isOver else { return }
    switch response.message {
    case .join(let join): await joined(join, localAddresses)
    case .offer(let offer): await receive(offer)
    case .trickle(let trickle):
      guard trickle.target == .subscriber, let candidate = CandidateInit.parse(trickle.candidateInit) else { return }
      await subscriber?.add(candidate)
    case .update(let update): for info in update.participants { await self.update(info) }
    case .mute(let mute): setMuted(mute.muted, trackSid: mute.sid)
    case .roomUpdate(let update): self.update(update.room)
    case .speakersChanged(let change): update(change.speakers)
    case .connectionQuality(let update): self.update(update.updates)
    case .streamStateUpdate(let update): for state in update.streamStates { self.update(state) }
    case .subscriptionPermissionUpdate(let update): self.update(update)
    case .subscriptionResponse(let response): subscriptionFailed(response)
    case .leave(let leave):
      logger.debug("the server ends the session", metadata: ["reason": "\(leave.reason)"])
      await end(with: LiveKitError(leave.reason))
    default: break
    }
  }

  private func joined(_ join: Livekit_JoinResponse, _ localAddresses: [String]) async {
    guard subscriber == nil else { return }
    logger.debug(
      "joined",
      metadata: [
        "room": "\(join.room.name)", "identity": "\(join.participant.identity)", "sid": "\(join.participant.sid)",
        "server": "\(join.serverInfo.version)", "participants": "\(join.otherParticipants.count)",
      ])
    learn(join)
    // A server offers no connection for media to someone who may not have any.
    if join.participant.hasPermission, !join.participant.permission.canSubscribe {
      return await end(with: .maySubscribeNothing)
    }
    let servers = join.iceServers.map {
      ICEServer(urls: $0.urls, username: $0.username, credential: $0.credential)
    }
    let subscriber = SubscriberTransport(
      servers: servers, localAddresses: localAddresses, timeout: timeout, factory: factory,
      latency: options.receiveLatency)
    self.subscriber = subscriber
    if options.audioPlayback == .automatic { playback = Playback(factory: factory) }
    statistics = StatisticsReporter(
      roundTrip: { [weak subscriber] in await subscriber?.roundTripTime() }, tell: { [weak room] in room?.tell($0) })
    if usesAdaptiveStream { watchDemands() }
    // Ends with the transport.
    Task { for await event in subscriber.events { await self.handle(event) } }
    for info in join.otherParticipants { addOrUpdate(info) }
  }

  private func handle(_ event: SubscriberTransport.Event) async {
    guard !isOver else { return }
    switch event {
    case .candidate(let candidate): trickle(candidate)
    case .state(let state): await changed(state)
    case .message(let message): receive(message)
    case .mediaChanged: await matchTracks()
    case .stream(let sid, let change): streamChanged(change, trackSid: sid)
    }
  }

  private func receive(_ offer: Livekit_SessionDescription) async {
    guard let subscriber else { return }
    do throws(LiveKitError) {
      logger.debug("offer received", metadata: ["tracks": "\(offer.midToTrackID.count)"])
      let text = try await subscriber.answer(offer.sdp, mids: offer.midToTrackID, codecs: publishedCodecs)
      var request = Livekit_SignalRequest()
      request.answer.type = "answer"
      request.answer.sdp = text
      request.answer.id = offer.id
      signal?.send(request)
      logger.debug("answer sent")
      await matchTracks()
    } catch {
      await end(with: error)
    }
  }

  private func trickle(_ candidate: String) {
    var request = Livekit_SignalRequest()
    request.trickle.candidateInit = CandidateInit.text(candidate)
    request.trickle.target = .subscriber
    signal?.send(request)
  }

  private func changed(_ state: PeerState) async {
    switch state {
    case .connected: connected.settle(.success(()))
    case .failed(let error): await end(with: LiveKitError(error))
    default: break
    }
  }

  // MARK: Ending

  func leave() async {
    var request = Livekit_SignalRequest()
    request.leave.reason = .clientInitiated
    request.leave.action = .disconnect
    signal?.send(request)
    await end(with: nil)
  }

  /// Returns when nothing of the connection is left, whoever began to end it.
  func end(with error: LiveKitError?) async {
    let ending = ending ?? Task { await close(for: error) }
    (self.ending, isOver) = (ending, true)
    await ending.value
  }

  private func close(for error: LiveKitError?) async {
    logger.debug("disconnected", metadata: ["reason": "\(error?.message ?? "asked for")"])
    endSettings()
    for participant in room.remoteParticipants.values { removeTracks(of: participant) }
    await statistics?.stop()
    await playback?.close()
    playback = nil
    await subscriber?.close()
    subscriber = nil
    await signal?.close()
    signal = nil
    room.ended(error)
    connected.settle(.failure(error ?? LiveKitError(.cancelled, "the connection was given up")))
  }
}
