import LiveKitProtocol
import Logging
import MediaCore
import SignalTransport

/// Runs one connection to a room: what happens becomes events of `SessionState`, and what that decides is done here.
///
/// Nothing is decided twice and nothing waits: whatever takes time is a task that comes back with another event.
actor RoomSession {
  /// Held until the connection has ended, when the room forgets its session: what still arrives has somewhere to go.
  let room: Room
  let options: RoomOptions
  private(set) var state: SessionState
  var link = SessionLink()
  let services: SessionServices
  private var queue = ActionQueue()
  private var timer: (deadline: MediaTime, task: Task<Void, Never>)?
  var requests = ConfirmedRequests()
  var early = EarlyMessages()
  /// What decoders say, in the order in which they said it.
  let decoderNews = TaskChain()
  /// Settled when the first session stands, or cannot.
  let outcome = Outcome<Void, LiveKitError>()
  private var ending: Task<Void, Never>?

  init(room: Room, options: RoomOptions, connect: ConnectOptions) {
    (self.room, self.options) = (room, options)
    services = SessionServices(room: room, options: options, loggers: Loggers(options.logger))
    state = SessionState(
      SessionState.Options(
        autoSubscribe: connect.autoSubscribe ?? options.autoSubscribe, usesAdaptiveStream: options.adaptiveStream,
        usesAudioFallback: options.audioFallback, connect: connect))
  }

  nonisolated var usesAdaptiveStream: Bool { options.adaptiveStream }
  var logger: Logger { services.loggers.room }

  /// Returns once media is connected.
  func connect(url: String, token: String) async throws(LiveKitError) {
    try services.check()
    let client: SignalClient
    do throws(SignalError) {
      client = SignalClient(url: try SignalURL(url), token: token, timeout: state.options.connect.timeout)
    } catch {
      throw LiveKitError(error)
    }
    guard !state.isEnded else { throw .givenUp }
    link.client = client
    handle(.connect(server: client.url.server))
    try await untilConnected()
  }

  private func untilConnected() async throws(LiveKitError) {
    let result = await withTaskCancellationHandler {
      await outcome.result()
    } onCancel: {
      Task { await end(with: .givenUp) }
    }
    try result.get()
  }

  // MARK: Events and time

  func handle(_ event: SessionEvent, at now: MediaTime = .now) {
    queue.add(state.handle(event, at: now))
    perform()
  }

  private func perform() {
    guard queue.begin() else { return }
    requests.sent = []
    while let action = queue.next() { perform(action) }
    arm()
  }

  private func perform(_ action: SessionAction) {
    switch action {
    case .connection(let action): perform(action)
    case .member(let identity, let action): perform(action, identity)
    case .track(let identity, let sid, let action):
      if let participant = room.remoteParticipants[identity], let publication = participant.publication(sid: sid) {
        perform(action, publication, of: participant)
      }
    case .room(let state): perform(state)
    }
  }

  private func arm() {
    // What is not due any more is not waited for.
    if state.settings.nextDeadline == nil { requests.resumeWaiters() }
    guard let deadline = state.nextDeadline, timer.map({ deadline < $0.deadline }) ?? true else { return }
    timer?.task.cancel()
    let task = Task {
      try? await Task.sleep(for: deadline - .now)
      if !Task.isCancelled { poll() }
    }
    timer = (deadline, task)
  }

  private func poll() {
    timer = nil
    queue.add(state.poll(at: .now) { sid in find(sid)?.publication.receivedTrack?.demand ?? .everything })
    perform()
  }

  func find(_ sid: String) -> (participant: RemoteParticipant, publication: RemoteTrackPublication)? {
    for participant in room.remoteParticipants.values {
      if let publication = participant.publication(sid: sid) { return (participant, publication) }
    }
    return nil
  }

  // MARK: The room

  private func perform(_ new: SessionAction.RoomState) {
    switch new {
    case .connected:
      if room.change(to: .connected, of: self) { room.tell(.connected) }
      outcome.settle(.success(()))
    case .reconnecting(let mode, let isNew, let error):
      logger.debug("reconnecting", metadata: ["mode": "\(mode.rawValue)", "reason": "\(error.message)"])
      if isNew { room.change(to: .reconnecting, of: self) }
      link.publisher?.note(isInterrupted: true)
      room.tell(isNew ? .reconnecting(mode) : .reconnectModeChanged(mode))
    case .reconnected(let mode):
      logger.debug("reconnected", metadata: ["mode": "\(mode.rawValue)"])
      link.publisher?.note(isInterrupted: false)
      room.change(to: .connected, of: self)
      room.tell(.reconnected(mode))
      broughtBack(by: mode)
    case .ended(let error): ending = Task { await close(for: error) }
    }
  }

  // MARK: Ending

  func leave() async {
    if await !flush() { logger.warning("the room is left before its server has acknowledged all messages") }
    link.client?.send(.goodbye)
    await end(with: nil)
  }

  /// Returns when nothing of the connection is left, or what is left does not stop, whoever began to end it.
  func end(with error: LiveKitError?) async {
    handle(.end(error))
    await ending?.value
  }

  private func close(for error: LiveKitError?) async {
    logger.debug("disconnected", metadata: ["reason": "\(error?.message ?? "asked for")"])
    timer?.task.cancel()
    requests.resumeWaiters(throwing: Self.notConnected)
    requests.failAnswers(Self.notConnected)
    cutMessages()
    let left = await endAll()
    if !left.isEmpty { warn(ofLeft: left) }
    room.ended(error)
    outcome.settle(.failure(error ?? .givenUp))
  }

  /// All at once, since none needs another one for its end: a session that is made anew drops its transports while
  /// playback and tracks go on, too.
  /// - Returns: what has not stopped within ten seconds.
  private func endAll() async -> [String] {
    var ends = SessionEnds()
    ends.begin("playback") { await self.stopServices() }
    endLocalTracks(in: &ends)
    let closing = link.beginClosing()
    let left = await ends.left(at: .now + ClosingTransports.patience)
    let isLinkGone = await closing.value
    guard !isLinkGone else { return left }
    // A connection waits for the tracks that it sends, too.
    return left + (link.unstopped.isEmpty && left.isEmpty ? ["connections"] : link.unstopped)
  }

  private func stopServices() async { await services.stop() }

  /// A device, a decoder or a renderer of the program may hang.
  private func warn(ofLeft left: [String]) {
    logger.warning(
      "the room is left although not all of it has stopped", metadata: ["left": "\(left.joined(separator: ", "))"])
  }
}

extension LiveKitError {
  static let givenUp = LiveKitError(.cancelled, "the connection was given up")
}
