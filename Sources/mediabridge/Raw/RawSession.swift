import Egress
import MediaBridge
import MediaCore

/// Follows a room, and sees to it that each stream gets the tracks that are meant for it.
actor RawSession {
  /// Makes a stream.
  /// - Parameters:
  ///   - number: of the stream, from 1 on.
  ///   - subject: whose it is.
  typealias StreamMaker =
    @Sendable (_ number: Int, _ subject: RawSubject) throws(LiveKitError) -> (any RawStream)

  /// A publication, and the stream that it is for.
  private struct Take {
    let participant: RemoteParticipant
    let publication: RemoteTrackPublication
    let key: String
    /// What the stream takes now.
    var track: Track?
  }

  /// To whom it is told what happens, and what commands print.
  private struct Reports {
    let console: Console
    let info: InfoLog?
    let replies: Replies?
  }

  private let room: Room
  private var request: Request
  /// Whether nothing more is taken.
  private var isOver = false
  private let reports: Reports
  private let makeStream: StreamMaker
  private var duration: Duration?
  private var streams = RawStreams()
  private var refusals = RawRefusals()
  private var search = RawSearch()
  /// Of those who have left, by number: what they wait for holds up nobody.
  private var leaving: [Int: Task<Void, Never>] = [:]
  private var takes: [Take] = []
  /// The last look at who is in the room.
  private var arranging: Task<Void, Never>?
  /// Who was chosen.
  private var identity: String?
  private var templates = FollowedTemplates()

  /// Nothing is taken before `run`.
  init(
    room: Room, _ request: Request, console: Console, info: InfoLog?, replies: Replies?,
    makeStream: @escaping StreamMaker
  ) {
    (self.room, self.request, self.makeStream) = (room, request, makeStream)
    reports = Reports(console: console, info: info, replies: replies)
  }

  // MARK: The course of it

  /// Goes on until the time is over, a signal comes, readers have gone or the room is lost.
  func run(_ visit: RoomVisit, duration: Duration?, wait: Duration?) async throws {
    self.duration = duration
    try begin()
    let (events, interruption) = (room.events, visit.interruption)
    let follower = Task { for await event in events { await self.follow(event) } }
    defer { follower.cancel() }
    do { try await visit.join { await self.abandon() } } catch {
      await abandon()
      throw error
    }
    await arrange()
    var failure = await untilEnd(interruption, wait: wait)
    isOver = true
    templates.stop()
    await finishStreams()
    noteEnds()
    failure =
      failure ?? streams.lack(isWhole: duration == nil || interruption.hasCome) ?? streams.losses ?? refusals.lack
    let unsent = await reports.replies?.finish()
    failure = failure ?? unsent
    report(failure)
    // Others may go on in this room.
    for take in takes { await take.publication.release(request.need) }
    await visit.leave()
    let untold = await reports.info?.finish()
    failure = failure ?? untold
    if let failure { throw failure }
  }

  /// Nothing has come.
  private func abandon() async {
    await finishStreams()
    _ = await reports.info?.finish()
  }

  /// The only stream is there from the beginning, so that what is wrong with its destination is known at once.
  private func begin() throws(LiveKitError) {
    if request.extent != .each, !request.waitsForName { try add("", RawSubject()) }
  }

  private func add(_ key: String, _ subject: RawSubject) throws(LiveKitError) {
    try streams.add(key) { number throws(LiveKitError) in try makeStream(number, subject) }
  }

  /// - Returns: why not all is there that was asked for.
  private func untilEnd(_ interruption: Interruption, wait: Duration?) async -> LiveKitError? {
    let deadline = wait.map { MediaTime.now + $0 }
    while true {
      let isInterrupted = await interruption.came(within: request.pace)
      let hasBegun = streams.hasBegun
      if isInterrupted { return hasBegun ? streams.lack(isWhole: true) : refusals.reason(stopped) }
      tick()
      await heedRefusals()
      if streams.isOver(isOpen: request.extent == .each && duration == nil) {
        return streams.lack(isWhole: duration == nil)
      }
      if room.connectionState == .disconnected {
        if room.wasClosed, hasBegun, duration == nil { return streams.lack(isWhole: true) }
        return hasBegun ? room.loss : refusals.reason(room.loss)
      }
      guard !hasBegun else { continue }
      if let failure = giveUp(at: deadline) { return failure }
      tellWait()
    }
  }

  /// A name may be mistyped, and a microphone muted.
  private func tellWait() {
    let missing = search.news(of: request.choice, among: room.remoteParticipants.values, at: .now)
    if let missing { reports.console.tell(waitingFor: missing) }
  }

  private var stopped: LiveKitError {
    LiveKitError(.noMedia, "stopped while waiting for \(request.choice.wish)")
  }

  /// - Returns: why nothing is waited for any more.
  private func giveUp(at deadline: MediaTime?) -> LiveKitError? {
    // Whoever set a limit to the wait waits for something else.
    guard let deadline else { return refusals.hopelessness(at: .now) }
    guard MediaTime.now >= deadline else { return nil }
    let advice = refusals.lack == nil ? "; raise --wait to wait longer" : ""
    let hint = request.choice.hint(among: room.remoteParticipants.values).map { " (\($0))" } ?? ""
    return refusals.reason(LiveKitError(.timedOut, "waited in vain for \(request.choice.wish)\(hint)\(advice)"))
  }

  private func tick() {
    for (_, stream) in streams.all {
      stream.tick()
      stream.output.look()
    }
    noteEnds()
    reports.info?.tick()
    templates.follow(takes.compactMap(\.publication.media), reports.console)
  }

  /// Has another one be taken in the place of who cannot be had.
  private func heedRefusals() async {
    await heedMedia()
    while refusals.note(takes.map { held($0) }, at: .now) { await arrange() }
  }

  /// What was silent is not once something comes of it.
  private func heedMedia() async {
    for take in takes where refusals.isSilent(take.publication.sid) {
      guard let media = take.publication.media, await media.reception().isFlowing else { continue }
      refusals.forgetSilence(of: take.publication.sid)
    }
  }

  private func held(_ take: Take) -> RawRefusals.Held {
    let (sid, refusal) = (take.publication.sid, take.publication.refusal)
    return RawRefusals.Held(key: request.extent == .all ? sid : take.key, sid: sid, refusal: refusal)
  }

  /// Said at once where others go on; else it is why the command ends.
  private func noteEnds() {
    for (name, failure) in streams.noteEnds() where failure.code == .readerGone || request.extent == .each {
      reports.console.tell(endOf: name, failure)
    }
  }

  private func finishStreams() async {
    await withTaskGroup { [streams, leaving] group in
      for (_, stream) in streams.all { group.addTask { await stream.finish() } }
      for task in leaving.values { group.addTask { await task.value } }
    }
  }

  private func report(_ failure: LiveKitError?) {
    for report in streams.reports { report.tell(reports.console, request.unit) }
    reports.info?.tell("finished", failure.map { ["message": $0.message] } ?? [:])
  }

  // MARK: Who is in the room

  private func follow(_ event: RoomEvent) async {
    reports.console.tell(event)
    reports.info?.note(event)
    switch event {
    case .trackPublished, .trackUnpublished, .trackSubscribed, .trackUnsubscribed, .reconnected: await arrange()
    case .participantDisconnected(let participant):
      await arrange()
      await leave(participant.identity ?? participant.sid)
    case .muteChanged(_, let publication, let isMuted):
      // Another track may be taken in its place, or this one in the place of another.
      if isMuted { setMuted(true, publication) }
      await arrange()
      if !isMuted { setMuted(false, publication) }
    case .subscriptionFailed(_, let sid, let error) where error.code == .noMedia: noteSilence(of: sid, error)
    default: break
    }
  }

  private func noteSilence(of sid: String, _ reason: LiveKitError) {
    if takes.contains(where: { $0.publication.sid == sid }) { refusals.noteSilence(of: sid, reason) }
  }

  private func setMuted(_ isMuted: Bool, _ publication: TrackPublication) {
    guard let take = takes.first(where: { $0.publication === publication }) else { return }
    streams[take.key]?.setMuted(isMuted, take.publication)
  }

  /// Of who has left: a command has nothing more to wait for, and a reader that has ended is begun anew when they come
  /// back. A file goes on then, and so does a command for who is back already: a server may tell both at once.
  private func leave(_ key: String) async {
    noteEnds()
    let isBack = room.remoteParticipants[key] != nil
    guard streams.hasEnded(key) || request.endsWithParticipant && !isBack else { return }
    if let stream = streams.leave(key, duration) { end(stream) }
    guard isBack else { return }
    // What was taken of them by then is for the next reader.
    for index in takes.indices where takes[index].key == key { takes[index].track = nil }
    await arrange()
  }

  private func end(_ stream: any RawStream) {
    let number = (leaving.keys.max() ?? 0) + 1
    let isKnown = stream.failure != nil
    leaving[number] = Task {
      await stream.leave()
      streams.noteLeft(stream)
      if !isKnown, let failure = stream.failure { reports.console.tell(endOf: stream.name, failure) }
      leaving[number] = nil
    }
  }

  /// One look at a time: what one has chosen is out of date once another has looked.
  private func arrange() async {
    let look = Task { [earlier = arranging] in
      await earlier?.value
      await self.bringIntoLine()
    }
    arranging = look
    await look.value
  }

  /// Brings what is subscribed and what the streams take into line with what is published.
  private func bringIntoLine() async {
    guard room.connectionState == .connected, !isOver else { return }
    request.choice.follow(takes.map(\.publication))
    let wanted = wanted()
    for take in takes where !wanted.contains(where: { $0.publication === take.publication }) {
      takes.removeAll { $0.publication === take.publication }
      streams[take.key]?.detach(take.publication)
      await take.publication.release(request.need)
    }
    for new in wanted where !isOver && !takes.contains(where: { $0.publication === new.publication }) {
      guard prepare(new) else { continue }
      takes.append(new)
      let isChosen = request.extent != .all
      reports.console.tell(taking: new.publication, of: new.participant, isChosen: isChosen)
      refusals.forgetSilence(of: new.publication.sid)
      await new.publication.hold(request.need)
    }
    for take in takes where streams[take.key] == nil { _ = prepare(take) }
    // Each is asked for once: to hear of it takes a server a while, and what is asked for stays.
    let new = takes.indices.filter { follow(takeAt: $0) }.map { takes[$0].publication }
    for publication in new { await ask(publication) }
  }

  /// - Returns: whether there is a stream for it.
  private func prepare(_ take: Take) -> Bool {
    guard streams[take.key] == nil else { return true }
    guard !streams.hasEnded(take.key) else { return false }
    do throws(LiveKitError) {
      try add(
        take.key, RawSubject(identity: take.key, participant: take.participant, publication: take.publication))
    } catch {
      streams.fail(take.key, error)
      // Else it is why the command ends.
      if request.extent == .each { reports.console.tell(endOf: nil, of: take.key, error) }
      return false
    }
    return true
  }

  /// Hands the track of a publication to its stream, when there is another one than before.
  /// - Returns: whether there is.
  private func follow(takeAt index: Int) -> Bool {
    let take = takes[index]
    guard take.track !== take.publication.track else { return false }
    takes[index].track = take.publication.track
    streams[take.key]?.detach(take.publication)
    guard take.publication.track != nil else { return false }
    streams[take.key]?.attach(take.publication, of: take.participant)
    return true
  }

  /// Has no more sent than is wanted.
  private func ask(_ publication: RemoteTrackPublication) async {
    guard publication.kind == .video else { return }
    if let size = request.wish.size { try? await publication.set(preferredDimensions: size) }
    if let fps = request.wish.fps { try? await publication.set(preferredFPS: UInt(fps)) }
  }

  /// Whoever was chosen stays chosen as long as they publish something.
  private func wanted() -> [Take] {
    let there = room.remoteParticipants.values.filter(request.choice.accepts).sorted { $0.sid < $1.sid }
    let found = there.flatMap { participant in
      publications(of: participant).map { publication in
        let key = request.extent == .each ? participant.identity ?? participant.sid : ""
        return Take(participant: participant, publication: publication, key: key)
      }
    }
    guard request.extent == .one else { return found }
    let hasBegun = streams.hasBegun
    let candidates = found.map { take in
      RawChoice.Candidate(
        isStaying: hasBegun && take.participant.identity == identity,
        isTaken: takes.contains { $0.publication === take.publication }, isMuted: take.publication.isMuted,
        isRefused: take.publication.refusal != nil || refusals.isSilent(take.publication.sid))
    }
    guard let index = RawChoice.first(of: candidates) else { return [] }
    identity = found[index].participant.identity ?? identity
    return [found[index]]
  }

  private func publications(of participant: RemoteParticipant) -> [RemoteTrackPublication] {
    let all = participant.trackPublications.values
    if request.extent == .all { return all.filter(request.choice.accepts) }
    return request.choice.best(of: all).map { [$0] } ?? []
  }
}
