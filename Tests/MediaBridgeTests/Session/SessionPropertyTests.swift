import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaCore
import ParserExercises
import PeerTransport
import Testing

@testable import MediaBridge

/// Random lives of a session in virtual time: connections that break and come back, tracks, renderers, wishes. What the
/// server was told and what the program has is compared with models that know nothing of how a session works.
@Suite struct SessionPropertyTests {
  @MainActor @Test func itEndsUpWithWhatIsWantedWhateverIsLost() {
    for seed in 0..<10_000 {
      guard Life(seed: UInt64(seed)).run(steps: 15) != nil else { continue }
      let life = Life(seed: UInt64(seed), keepsDiary: true)
      let violation = life.run(steps: 15) ?? "nothing, the second time"
      Issue.record("seed \(seed): \(violation)\n\(life.link.diary?.joined(separator: "\n") ?? "")")
      return
    }
  }
}

@MainActor private final class Life {
  let link: SimulatedLink
  private let server: SimulatedServer
  private var subjects: [Subject] { server.subjects }
  private var nextReading = MediaTime(nanoseconds: 0)
  /// Until when the main actor has no time to read.
  private var busyUntil = MediaTime(nanoseconds: 0)
  /// Whether a renderer has changed since they were asked.
  private var isUnread = true

  init(seed: UInt64, keepsDiary: Bool = false) {
    var random = SeededRandom(seed: seed)
    server = SimulatedServer(
      (0..<Int.random(in: 1...3, using: &random)).map { Subject($0) }, autoSubscribe: random.chance(0.7))
    link = SimulatedLink(random, server, keepsDiary: keepsDiary)
    link.onSettings = { [weak self] in self?.told($0, $1, arrives: $2) }
  }

  private var time: MediaTime { link.time }
  private var isOver: Bool { link.violation != nil || link.session.isEnded }
  private func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &link.random) }

  /// - Returns: what went wrong.
  func run(steps: Int) -> String? {
    link.handle(.connect(server: "server"))
    for _ in 0..<steps where !isOver {
      step()
      if pick(0...5) == 0 { settle() }
    }
    settle()
    return link.violation
  }

  // MARK: What happens

  private func step() {
    let subject = subjects.randomElement(using: &link.random)!
    switch pick(0...9) {
    case 0...3: changeRenderers(of: subject)
    case 4: changeWishes(of: subject)
    case 5: changePublications(of: subject)
    case 6: loseConnection()
    case 7: leave()
    default: advance(by: .milliseconds(pick(0...700)))
    }
  }

  private func changeRenderers(of subject: Subject) {
    let screen = subject.screens.randomElement(using: &link.random)
    switch (pick(0...7), screen) {
    case (0, _), (1, _): attach(to: subject)
    case (2, let screen?): detach(screen, from: subject)
    case (3, let screen?), (4, let screen?):
      screen.adaptiveStreamSize = size()
      announceOrNot("resize to \(screen.adaptiveStreamSize)", subject)
    case (5, let screen?):
      screen.isVisible.toggle()
      announceOrNot("visible \(screen.isVisible)", subject)
    case (6, let screen?):
      screen.isAdaptiveStreamEnabled.toggle()
      announceOrNot("takes part \(screen.isAdaptiveStreamEnabled)", subject)
    default:
      busyUntil = time + .milliseconds(pick(1...900))
      link.write("main actor busy until \(busyUntil)")
    }
  }

  private func size() -> CGSize {
    let width = [0, 160, 320, 320, 640, 1280, 180].randomElement(using: &link.random)!
    return CGSize(width: width, height: [0, 90, 180, 360, 720].randomElement(using: &link.random)!)
  }

  private func attach(to subject: Subject) {
    guard subject.screens.count < 4 else { return }
    let screen = Screen(size())
    screen.isVisible = link.chance(0.75)
    screen.isAdaptiveStreamEnabled = link.chance(0.8)
    subject.screens.append(screen)
    subject.demands.add(screen)
    link.write("attach \(screen.adaptiveStreamSize) to \(subject.sid)")
    announce(subject)
  }

  private func detach(_ screen: Screen, from subject: Subject) {
    subject.screens.removeAll { $0 === screen }
    subject.demands.remove(screen)
    link.write("detach from \(subject.sid)")
    announce(subject)
  }

  private func changeWishes(of subject: Subject) {
    guard link.program.publications[subject.sid] != nil else { return }
    if pick(0...2) == 0 {
      subject.outputs == 0 ? hold(subject) : release(subject)
    } else {
      let isWanted = !subject.isWanted
      link.write("want \(subject.sid): \(isWanted)")
      subject.isWanted = isWanted
      let isDoubtful = link.isDoubtful
      link.handle(.want(sid: subject.sid, isWanted))
      // Where the server cannot be told, what was wanted before holds again.
      advance(by: .zero)
      if isDoubtful { subject.isWanted = wish(subject) ?? subject.isWanted }
    }
  }

  private func wish(_ subject: Subject) -> Bool? { link.program.publications[subject.sid]?.shown.wish.isWanted }

  private func hasTrack(_ subject: Subject) -> Bool { link.program.publications[subject.sid]?.hasTrack == true }

  private func hold(_ subject: Subject) {
    link.write("hold \(subject.sid)")
    (subject.outputs, subject.isWanted) = (1, true)
    link.handle(.hold(sid: subject.sid, .everything))
  }

  private func release(_ subject: Subject) {
    link.write("release \(subject.sid)")
    subject.outputs = 0
    link.handle(.release(sid: subject.sid, .everything))
    subject.isWanted = wish(subject) ?? subject.isWanted
  }

  /// Others publish, mute, leave and come back; the client may hear it late.
  private func changePublications(of subject: Subject) {
    switch pick(0...4) {
    case 0 where subject.isPublished: server.unpublish(subject)
    case 0, 1:
      if !subject.isPublished, server.stays[subject.owner] != nil { server.publish(subject) }
    case 2:
      subject.isMuted.toggle()
      var mute = Livekit_MuteTrackRequest()
      (mute.sid, mute.muted) = (subject.sid, subject.isMuted)
      link.tell(.mute(mute))
    case 3: server.leave(subject.owner)
    default: if server.stays[subject.owner] == nil { server.join(subject.owner) }
    }
    link.write("\(subject.owner) has \(subject.sid): \(subject.isPublished)")
    link.tellAll()
    link.offer()
  }

  private func loseConnection() {
    switch pick(0...5) {
    case 0...2: link.cut()
    case 3: link.loseMedia(.disconnected(.consentLost(pair: "")))
    case 4: link.loseMedia(.failed(.iceFailed(tried: "")))
    default: link.loseMedia(.failed(.closedByPeer))
    }
  }

  /// The server ends the session: to go on, to begin anew, as another server, or for good.
  private func leave() {
    var leave = Livekit_LeaveRequest()
    switch pick(0...9) {
    case 0...2: leave.action = .resume
    case 3...6: leave.action = .reconnect
    case 7, 8: return restart()
    default: leave.reason = [.participantRemoved, .duplicateIdentity, .roomDeleted].randomElement(using: &link.random)!
    }
    link.write("leave: \(leave.action) \(leave.reason)")
    link.tell(.leave(leave))
  }

  private func restart() {
    let late = server.restart(late: { _ in self.link.chance(0.4) })
    link.write("the server starts again; late: \(late)")
    for identity in late {
      link.after(.milliseconds(pick(0...4000))) {
        if self.server.stays[identity] == nil { self.server.join(identity) }
        self.link.tellAll()
        self.link.offer()
      }
    }
    var leave = Livekit_LeaveRequest()
    leave.action = .reconnect
    link.tell(.leave(leave))
  }

  private func announceOrNot(_ what: String, _ subject: Subject) {
    let isAnnounced = link.chance(0.5)
    isUnread = true
    link.write("\(subject.sid): \(what)\(isAnnounced ? ", told" : "")")
    if isAnnounced { announce(subject) }
  }

  // MARK: Renderers

  private func announce(_ subject: Subject) {
    isUnread = true
    link.handle(.demandChanged(sid: subject.sid))
    read()
  }

  private func read() {
    guard time >= busyUntil else { return }
    isUnread = false
    for subject in subjects where subject.demands.read() { link.handle(.demandChanged(sid: subject.sid)) }
  }

  private func advance(by duration: Duration) {
    let end = time + duration
    while link.violation == nil {
      link.advance(to: isUnread ? max(time, min(nextReading, end)) : end)
      if time >= nextReading, isUnread {
        read()
        nextReading = time + SettingsSchedule.interval
      }
      if time >= end { return }
    }
  }

  // MARK: What has to hold

  private func told(_ request: Livekit_UpdateTrackSettings, _ message: SettingsSchedule.Message, arrives: Bool) {
    link.write("\(arrives ? "told" : "lost") \(message)")
    for sid in message.sids {
      if let subject = server.subject(sid) { take(message.settings, subject, arrives: arrives) }
    }
  }

  private func take(_ settings: TrackSettings, _ subject: Subject, arrives: Bool) {
    guard let begun = subject.begun else { return link.fail("\(subject.sid) is not subscribed") }
    if subject.told == settings { link.fail("\(subject.sid) is told the same again") }
    if let last = subject.lastMessage, time - last < SettingsSchedule.moment {
      link.fail("\(subject.sid) is told twice in a moment")
    }
    if !settings.isEnabled, !subject.wasTold, time - begun < SettingsSchedule.grace {
      link.fail("\(subject.sid) is paused before it could get a renderer")
    }
    let isCertain = !link.isCut
    (subject.wasTold, subject.told, subject.lastMessage) = (true, isCertain ? settings : nil, isCertain ? time : nil)
    if arrives, subject.sent != nil { subject.server = settings }
  }

  /// When nothing more goes wrong, all is as it is wanted, or the session has ended.
  private func settle() {
    link.isCalm = true
    defer { link.isCalm = false }
    for _ in 0..<40 where !isOver && !isSteady { advance(by: .seconds(3)) }
    guard !isOver else { return }
    if !isSteady { return link.fail("the session does not come back: \(link.session.phase)") }
    link.tellAll()
    link.offer()
    if busyUntil > time { advance(by: busyUntil - time) }
    // Late tracks come, and what never comes is given up.
    advance(by: SessionState.returnTime + .seconds(5))
    advance(by: SettingsSchedule.interval + SettingsSchedule.moment)
    guard !isOver, isSteady else { return }
    for subject in subjects { check(subject) }
    checkMembers()
    guard let subject = subjects.first(where: { hasTrack($0) && !$0.screens.isEmpty }) else { return }
    checkAnnouncements(subject)
    checkBusyMainActor(subject)
  }

  private var isSteady: Bool { link.program.course == .connected && !link.isCut && link.session.link.isConnected }

  private func checkMembers() {
    if link.program.members != Set(server.stays.keys) {
      link.fail("\(link.program.members) instead of \(server.stays)")
    }
    let published = Set(subjects.filter(\.isPublished).map(\.sid))
    let known = Set(link.program.publications.keys)
    if known != published { link.fail("\(known) instead of \(published)") }
  }

  private func check(_ subject: Subject) {
    guard subject.isPublished, let known = link.program.publications[subject.sid] else { return }
    if known.shown.wish.isWanted != subject.isWanted { link.fail("\(subject.sid) is not wanted as the program said") }
    if (subject.sent != nil) != subject.isWanted { link.fail("the server sends \(subject.sid): \(!subject.isWanted)") }
    if known.hasTrack != subject.isWanted { link.fail("\(subject.sid) has a track: \(known.hasTrack)") }
    if known.isMuted != subject.isMuted { link.fail("\(subject.sid) is muted: \(known.isMuted)") }
    guard known.hasTrack else { return }
    check(subject, is: subject.expected, "in the end")
  }

  /// A change that is announced does not wait for the next reading, nor for the changes that follow it.
  private func checkAnnouncements(_ subject: Subject) {
    subject.screens[0].isVisible = true
    for (width, pause) in [(1000, 6), (2000, 4)] {
      subject.screens[0].adaptiveStreamSize = CGSize(width: width, height: 1000)
      link.write("\(width) columns for \(subject.sid), told")
      announce(subject)
      advance(by: .milliseconds(pause))
    }
    check(subject, is: subject.expected, "a moment after a change")
    advance(by: SettingsSchedule.moment)
  }

  /// While the main actor has no time, who has not been asked counts as one who needs everything.
  private func checkBusyMainActor(_ subject: Subject) {
    busyUntil = time + .seconds(1)
    let screen = Screen()
    subject.screens.append(screen)
    subject.demands.add(screen)
    link.write("attach to \(subject.sid) while the main actor is busy")
    announce(subject)
    advance(by: SettingsSchedule.moment)
    check(subject, is: TrackSettings(), "while the main actor is busy")
    busyUntil = time
    detach(screen, from: subject)
  }

  private func check(_ subject: Subject, is settings: TrackSettings, _ moment: String) {
    // A pause that the server has forgotten is not noticed before something flows.
    guard settings.isEnabled || !subject.isMuted else { return }
    if subject.server != settings { link.fail("\(subject.sid) has \(subject.server) \(moment), needs \(settings)") }
  }
}
