import BridgeTesting
import LiveKitProtocol
import MediaCore
import ParserExercises
import PeerTransport

@testable import MediaBridge

/// Does what a session's state asks for, in virtual time: connections that open late or not at all, offers that take a
/// while, messages that are lost.
@MainActor final class SimulatedLink {
  private struct Task {
    let time: MediaTime
    let run: @MainActor () -> Void
  }

  var random: SeededRandom
  private(set) var time = MediaTime(nanoseconds: 0)
  private(set) var session: SessionState
  private(set) var program = ToldProgram()
  let server: SimulatedServer
  /// The next one first.
  private var tasks: [Task] = []
  /// Numbers of the newest connections; what an older one brings is not heard.
  private var signal = 0
  private var transport = 0
  /// How often the server has restarted ICE.
  private var restarts = 0
  /// How it was opened last.
  private var mode = ReconnectMode.full
  private var isOpen = false
  private var isTransportFailed = false
  /// Nothing arrives, and nobody has noticed yet.
  private(set) var isCut = false
  /// Nothing goes wrong any more.
  var isCalm = false
  /// What the newest description carries.
  private var carried: [String: ObjectIdentifier] = [:]
  /// How often it was said whether the media of a track is to come.
  private var expectations: [String: Int] = [:]
  var onSettings: (Livekit_UpdateTrackSettings, SettingsSchedule.Message, Bool) -> Void = { _, _, _ in }
  private(set) var violation: String?
  /// What happened; nil where nobody wants to know, since words cost most of the time.
  private(set) var diary: [String]?

  init(_ random: SeededRandom, _ server: SimulatedServer, keepsDiary: Bool) {
    (self.random, self.server, diary) = (random, server, keepsDiary ? [] : nil)
    session = SessionState(
      SessionState.Options(autoSubscribe: server.autoSubscribe, connect: ConnectOptions(), chance: { 0.5 }))
  }

  /// Whether what is sent now may not arrive.
  var isDoubtful: Bool { isCut || !isOpen }

  func chance(_ probability: Double) -> Bool { random.chance(probability) }
  private func pause(_ longest: Int) -> Duration { .milliseconds(Int.random(in: 0...longest, using: &random)) }
  func write(_ text: @autoclosure () -> String) { if diary != nil { diary?.append("\(time) \(text())") } }
  func fail(_ text: String) { violation = violation ?? "at \(time): \(text)" }

  // MARK: Time

  func after(_ delay: Duration, _ run: @escaping @MainActor () -> Void) {
    let task = Task(time: time + delay, run: run)
    tasks.insert(task, at: tasks.firstIndex { $0.time > task.time } ?? tasks.count)
  }

  /// When something happens next.
  private var next: MediaTime? {
    guard let task = tasks.first?.time, let deadline = session.nextDeadline else {
      return tasks.first?.time ?? session.nextDeadline
    }
    return min(task, deadline)
  }

  /// Does what is due at that time, or before.
  func advance(to end: MediaTime) {
    while violation == nil, let next, next <= end {
      time = max(time, next)
      if let task = tasks.first, task.time <= time {
        tasks.removeFirst()
        task.run()
      } else {
        perform(
          session.poll(at: time) { [server] sid in
            server.subjects.first { $0.sid == sid }?.demands.combined ?? .everything
          })
        if let deadline = session.nextDeadline, deadline <= time { fail("poll leaves \(deadline) undone") }
      }
    }
    time = max(time, end)
  }

  // MARK: What the state wants

  func handle(_ event: SessionEvent) { perform(session.handle(event, at: time)) }

  private func perform(_ actions: [SessionAction]) {
    for action in actions {
      if let wrong = program.take(action) { fail(wrong) }
      switch action {
      case .connection(let action): perform(action)
      case .member(_, let action): perform(action)
      case .track(_, let sid, let action): perform(action, sid)
      case .room(let state): perform(state)
      }
    }
  }

  /// What was told last when a session goes on may have been lost, and the server may or may not have it.
  private func perform(_ state: SessionAction.RoomState) {
    write("\(state)")
    switch state {
    case .reconnected(.quick): doubt()
    // Also where the first session has gone on.
    case .connected where mode == .quick: doubt()
    default: break
    }
  }

  private func doubt() {
    for subject in server.subjects { (subject.told, subject.lastMessage, subject.wasTold) = (nil, nil, true) }
  }

  private func perform(_ action: SessionAction.Connection) {
    switch action {
    case .open(let mode, _): open(mode)
    case .makeTransport: makeTransport()
    case .send(let request): send(request)
    case .confirm(let request, let confirmation): send(request, confirmation)
    case .matchTracks, .learnCodecs: after(.zero) { self.match() }
    case .learn, .learnOurselves, .move, .settingsTold, .watchCongestion: break
    }
  }

  private func perform(_ action: SessionAction.Member) {
    guard case .publish(let shown) = action, let subject = server.subjects.first(where: { $0.sid == shown.sid }) else {
      return
    }
    (subject.isWanted, subject.outputs, subject.mayGo) = (shown.wish.isWanted, 0, false)
  }

  private func perform(_ action: SessionAction.Track, _ sid: String) {
    guard let subject = server.subjects.first(where: { $0.sid == sid }) else { return }
    switch action {
    case .begin, .resume:
      (subject.begun, subject.wasTold, subject.told, subject.lastMessage) = (time, false, nil, nil)
    case .end: subject.begun = nil
    case .unpublish where subject.isPublished && !subject.mayGo && !session.isEnded:
      fail("\(sid) is taken away although it is there")
    case .expect(let isExpected):
      expectations[sid, default: 0] += 1
      if !isExpected { watch(subject, expectations[sid]) }
    default: break
    }
  }

  /// Media that goes on in a pause is noticed, once for each time that nothing was to come.
  private func watch(_ subject: Subject, _ expectation: Int?) {
    let sid = subject.sid
    after(.seconds(3)) {
      guard subject.sid == sid, self.expectations[sid] == expectation, let carried = self.carried[sid] else { return }
      let isCarried = subject.sent.map { ObjectIdentifier($0) == carried } ?? false
      guard isCarried, subject.isFlowing else { return self.watch(subject, expectation) }
      self.write("\(sid) goes on in a pause")
      subject.told = nil
      self.handle(.stream(sid: sid, .unabated))
    }
  }

  private func match() {
    if transport > 0 { handle(.media(carried)) }
  }

  // MARK: Connections

  private func open(_ mode: ReconnectMode) {
    signal += 1
    self.mode = mode
    (isOpen, isCut) = (false, false)
    if mode == .full { (transport, isTransportFailed, carried) = (transport + 1, false, [:]) }
    doubt()
    write("opens \(mode)")
    let number = signal
    after(pause(400)) { if number == self.signal, !self.session.isEnded { self.opened(mode) } }
  }

  private func opened(_ mode: ReconnectMode) {
    guard mode == .full || server.hasSession else { return refuse(remedy: .full) }
    guard isCalm || chance(0.7) else { return refuse(remedy: chance(0.05) ? nil : chance(0.3) ? .full : .quick) }
    isOpen = true
    handle(.opened)
    mode == .full ? join() : resume()
  }

  private func refuse(remedy: ReconnectMode?) {
    write("refused: \(remedy.map { "\($0)" } ?? "for good")")
    handle(.openFailed(SessionFailure(LiveKitError(.network, "refused"), remedy: remedy)))
  }

  private func join() {
    server.beginSession()
    handle(.response(.join(server.join)))
  }

  private func resume() {
    handle(.response(.reconnect(Livekit_ReconnectResponse())))
    // Departures that the server takes for heard are not repeated.
    if chance(0.3) { server.heard() }
    tellAll()
    tell(.roomUpdate(Livekit_RoomUpdate()))
    restarts += 1
    offer()
    guard !isTransportFailed else { return }
    connectTransport()
  }

  private func makeTransport() {
    connectTransport()
    offer()
  }

  private func connectTransport() {
    guard isCalm || chance(0.85) else { return }
    let number = transport
    after(pause(300)) {
      if number == self.transport, !self.session.isEnded { self.handle(.transport(.connected)) }
    }
  }

  /// The server says who is there, if it is heard.
  func tellAll() {
    guard isOpen, !isCut else { return }
    handle(.response(.update(server.update)))
    server.heard()
  }

  /// The server says what it sends from now on.
  func offer() {
    let (signal, transport) = (signal, transport)
    after(pause(150)) {
      guard self.isOpen, !self.isCut, signal == self.signal, transport == self.transport else { return }
      self.carried = self.server.media
      self.handle(Course.answered("u\(self.restarts)"))
    }
  }

  func tell(_ message: Livekit_SignalResponse.OneOf_Message) {
    guard isOpen, !isCut else { return }
    // Nothing is sent behind it.
    if case .leave = message { isOpen = false }
    handle(.response(message))
  }

  /// The connection breaks, and that is noticed a little later.
  func cut() {
    guard isOpen, !isCut else { return }
    write("the connection is cut")
    isCut = true
    let number = signal
    after(pause(800)) { if number == self.signal, self.isCut { self.notice() } }
  }

  private func notice() {
    isOpen = false
    handle(.signalEnded(SessionFailure(LiveKitError(.disconnected, "lost"), remedy: .quick)))
  }

  func loseMedia(_ state: PeerState) {
    guard transport > 0, !isTransportFailed else { return }
    write("media: \(state)")
    if case .failed = state { isTransportFailed = true }
    handle(.transport(state))
  }

  /// What our answer takes the server is ready to send a little later, or much later than we wait for renderers.
  private func bind() {
    for subject in server.subjects {
      guard let sent = subject.sent, !subject.isBound, carried[subject.sid] == ObjectIdentifier(sent) else { continue }
      after(pause(1500)) { subject.bind(sent) }
    }
  }

  // MARK: Messages

  private func receive(_ request: Livekit_SignalRequest) {
    if case .answer = request.message { bind() }
    if server.receive(request) { offer() }
  }

  private func send(_ request: Livekit_SignalRequest) {
    if isOpen, !isCut || chance(0.5) { receive(request) }
  }

  private func send(_ request: Livekit_SignalRequest, _ confirmation: SessionAction.Confirmation) {
    guard isOpen, !isCut || chance(0.7) else {
      doubt()
      return after(.zero) { self.handle(.unconfirmed(confirmation)) }
    }
    let arrives = !isCut || chance(0.5)
    if arrives { receive(request) }
    if case .settings(let message, _) = confirmation { onSettings(request.trackSetting, message, arrives) }
    after(.zero) { self.handle(.confirmed(confirmation)) }
  }
}
