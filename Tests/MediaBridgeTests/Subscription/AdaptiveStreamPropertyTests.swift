import BridgeTesting
import Foundation
import MediaCore
import ParserExercises
import Testing

@testable import MediaBridge

/// Random lives of tracks, renderers and connections in virtual time: what the server was told is compared with a model
/// that knows nothing of schedules, messages or readings.
@Suite struct AdaptiveStreamPropertyTests {
  @MainActor @Test func theServerIsToldWhatTheRenderersNeed() {
    for seed in 0..<10_000 {
      let life = Life(seed: UInt64(seed))
      if let violation = life.run(steps: 25) {
        Issue.record("seed \(seed): \(violation)\n\(life.diary.joined(separator: "\n"))")
        return
      }
    }
  }
}

/// One track, as the program sees it and as the server does.
@MainActor private final class Subject {
  let sid: String
  let demands = RendererDemands()
  var screens: [Screen] = []
  var outputs = 0
  /// What was sent last on this connection, if nothing was lost since.
  var told: TrackSettings?
  var wasTold = false
  var begun: MediaTime?
  var lastMessage: MediaTime?
  /// What the server does: the smallest layer until it is told otherwise.
  var server = TrackSettings(quality: .low)

  init(sid: String) { self.sid = sid }

  var isSubscribed: Bool { begun != nil }

  /// The model: what page and rules say of these renderers.
  var expected: TrackSettings {
    if outputs > 0 || screens.contains(where: { !$0.isAdaptiveStreamEnabled }) { return TrackSettings() }
    let visible = screens.filter(\.isVisible)
    if visible.isEmpty { return TrackSettings(isEnabled: false) }
    var largest = CGSize.zero
    for size in visible.map(\.adaptiveStreamSize) where size.width > 0 && size.height > 0 {
      let (area, most) = (size.width * size.height, largest.width * largest.height)
      if area > most || area == most && size.width > largest.width { largest = size }
    }
    if largest == .zero { return TrackSettings(quality: .low) }
    return TrackSettings(dimensions: Dimensions(width: Int32(largest.width), height: Int32(largest.height)))
  }
}

@MainActor private final class Life {
  private var random: SeededRandom
  private var time = MediaTime(nanoseconds: 0)
  private var schedule = SettingsSchedule()
  private let subjects: [Subject]
  private var nextReading = MediaTime(nanoseconds: 0)
  /// Whether the connection has broken: nothing arrives, and nobody has noticed yet or it is not back.
  private var isCut = false
  /// Until when the main actor has no time to read.
  private var busyUntil = MediaTime(nanoseconds: 0)
  private var violation: String?
  private(set) var diary: [String] = []

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    subjects = (0..<Int.random(in: 1...3, using: &random)).map { Subject(sid: "TR_\($0)") }
  }

  /// - Returns: what went wrong.
  func run(steps: Int) -> String? {
    for _ in 0..<steps where violation == nil {
      step()
      if Int.random(in: 0..<4, using: &random) == 0 { settle() }
    }
    settle()
    return violation
  }

  // MARK: What happens

  private func step() {
    let subject = subjects.randomElement(using: &random)!
    let screen = subject.screens.randomElement(using: &random)
    switch (Int.random(in: 0..<14, using: &random), screen) {
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
    case (7, _): subject.isSubscribed ? unsubscribe(subject) : subscribe(subject)
    case (8, _) where !subject.isSubscribed: subscribe(subject)
    case (8, _): hold(subject)
    case (9, _): joinAnew()
    case (10, _): isCut ? resume() : cut()
    case (11, _): replay(subject)
    case (12, _):
      busyUntil = time + .milliseconds(Int.random(in: 1...900, using: &random))
      write("main actor busy until \(busyUntil)")
    default: advance(by: .milliseconds(Int.random(in: 0...700, using: &random)))
    }
  }

  private func size() -> CGSize {
    let width = [0, 160, 320, 320, 640, 1280, 180].randomElement(using: &random)!
    return CGSize(width: width, height: [0, 90, 180, 360, 720].randomElement(using: &random)!)
  }

  private func attach(to subject: Subject) {
    guard subject.screens.count < 4 else { return }
    let screen = Screen(size())
    screen.isVisible = Int.random(in: 0..<4, using: &random) > 0
    screen.isAdaptiveStreamEnabled = Int.random(in: 0..<5, using: &random) > 0
    subject.screens.append(screen)
    subject.demands.add(screen)
    write("attach \(screen.adaptiveStreamSize) to \(subject.sid)")
    announce(subject)
  }

  private func detach(_ screen: Screen, from subject: Subject) {
    subject.screens.removeAll { $0 === screen }
    subject.demands.remove(screen)
    write("detach from \(subject.sid)")
    announce(subject)
  }

  private func hold(_ subject: Subject) {
    subject.outputs = subject.outputs == 0 ? 1 : 0
    write("\(subject.outputs) outputs of \(subject.sid)")
    schedule.change(subject.sid, at: time)
  }

  private func subscribe(_ subject: Subject) {
    write("subscribe \(subject.sid)")
    begin(subject)
  }

  private func begin(_ subject: Subject) {
    (subject.begun, subject.wasTold, subject.told, subject.lastMessage) = (time, false, nil, nil)
    subject.server = TrackSettings(quality: .low)
    schedule.begin(subject.sid, with: nil, at: time)
  }

  /// The track goes. Who showed it may keep it, and what they need of it then is nobody's business.
  private func unsubscribe(_ subject: Subject) {
    write("unsubscribe \(subject.sid)")
    subject.begun = nil
    schedule.end(subject.sid)
  }

  /// Published anew: the track goes and comes back with other renderers, some of them before its media does.
  private func replay(_ subject: Subject) {
    unsubscribe(subject)
    for screen in subject.screens { detach(screen, from: subject) }
    attach(to: subject)
    advance(by: .milliseconds(Int.random(in: 0...400, using: &random)))
    subscribe(subject)
  }

  private func cut() {
    write("the connection is cut")
    isCut = true
  }

  /// The session goes on. What was sent last may have been lost, and the server may or may not have it.
  private func resume() {
    write("the session goes on")
    isCut = false
    for subject in subjects { (subject.told, subject.lastMessage) = (nil, nil) }
    schedule.doubt(at: time)
  }

  /// Another session, whose server knows nothing; some tracks come back later than others, or not at all.
  private func joinAnew() {
    write("join anew")
    isCut = false
    let subscribed = subjects.filter(\.isSubscribed)
    for subject in subscribed { unsubscribe(subject) }
    for subject in subscribed.shuffled(using: &random) where Int.random(in: 0..<5, using: &random) > 0 {
      if Bool.random(using: &random) { advance(by: .milliseconds(Int.random(in: 0...500, using: &random))) }
      if !subject.isSubscribed { subscribe(subject) }
    }
  }

  private func announceOrNot(_ what: String, _ subject: Subject) {
    let isAnnounced = Bool.random(using: &random)
    write("\(subject.sid): \(what)\(isAnnounced ? ", told" : "")")
    if isAnnounced { announce(subject) }
  }

  // MARK: What a connection does

  private func announce(_ subject: Subject) {
    schedule.change(subject.sid, at: time)
    read()
  }

  private func read() {
    guard time >= busyUntil else { return }
    for subject in subjects where subject.demands.read() { schedule.change(subject.sid, at: time) }
  }

  private func advance(by duration: Duration) {
    let end = time + duration
    while violation == nil {
      let next = min(schedule.nextDeadline ?? end, min(nextReading, end))
      time = max(time, next)
      if time >= nextReading {
        read()
        nextReading = time + SettingsSchedule.interval
      }
      tell()
      if time >= end, schedule.nextDeadline.map({ $0 > end }) ?? true { return }
    }
  }

  private func tell() {
    let messages = schedule.poll(at: time) { sid in
      let subject = subjects.first { $0.sid == sid }!
      let wanted = subject.outputs > 0 ? TrackSettings() : subject.demands.combined.settings
      return subject.isSubscribed ? wanted : nil
    }
    for message in messages { send(message) }
  }

  /// On a connection that has broken it may be lost, or have arrived all the same.
  private func send(_ message: SettingsSchedule.Message) {
    let arrives = !isCut || Bool.random(using: &random)
    write("\(arrives ? "told" : "lost") \(message)")
    for sid in message.sids { take(message.settings, subjects.first { $0.sid == sid }!, arrives: arrives) }
  }

  // MARK: What has to hold

  private func take(_ settings: TrackSettings, _ subject: Subject, arrives: Bool) {
    guard let begun = subject.begun else { return fail("\(subject.sid) is not subscribed") }
    if subject.told == settings { fail("\(subject.sid) is told the same again") }
    if let last = subject.lastMessage, time - last < SettingsSchedule.moment {
      fail("\(subject.sid) is told twice in a moment")
    }
    if !settings.isEnabled, !subject.wasTold, time - begun < SettingsSchedule.grace {
      fail("\(subject.sid) is paused before it could get a renderer")
    }
    (subject.wasTold, subject.told, subject.lastMessage) = (true, isCut ? nil : settings, isCut ? nil : time)
    if arrives { subject.server = settings }
  }

  /// When nothing happens any more, the server knows the truth within one reading and one moment.
  private func settle() {
    if isCut { Bool.random(using: &random) ? resume() : joinAnew() }
    if busyUntil > time { advance(by: busyUntil - time) }
    advance(by: SettingsSchedule.interval + SettingsSchedule.moment)
    for subject in subjects where subject.isSubscribed { check(subject, is: subject.expected, "in the end") }
    guard let subject = subjects.first(where: { $0.isSubscribed && !$0.screens.isEmpty }) else { return }
    checkAnnouncements(subject)
    checkBusyMainActor(subject)
  }

  /// A change that is announced does not wait for the next reading, nor for the changes that follow it.
  private func checkAnnouncements(_ subject: Subject) {
    subject.screens[0].isVisible = true
    for (width, pause) in [(1000, 6), (2000, 4)] {
      subject.screens[0].adaptiveStreamSize = CGSize(width: width, height: 1000)
      write("\(width) columns for \(subject.sid), told")
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
    write("attach to \(subject.sid) while the main actor is busy")
    announce(subject)
    advance(by: SettingsSchedule.moment)
    check(subject, is: TrackSettings(), "while the main actor is busy")
    busyUntil = time
    detach(screen, from: subject)
  }

  private func check(_ subject: Subject, is settings: TrackSettings, _ moment: String) {
    if subject.server != settings { fail("\(subject.sid) has \(subject.server) \(moment), needs \(settings)") }
  }

  private func fail(_ text: String) { violation = violation ?? "at \(time): \(text)" }
  private func write(_ text: String) { diary.append("\(time) \(text)") }
}
