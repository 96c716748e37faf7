import Egress
import MediaBridge
import MediaCore

/// Follows a room, and sees to it that each stream gets the tracks that are meant for it.
actor RawSession {
  /// How the media is asked of the server.
  struct Wish: Sendable {
    var size: Dimensions?
    var fps: Int?
  }

  /// Whose media is taken.
  enum Extent: Sendable {
    /// Of one participant, the first one where none is named.
    case one
    /// Of all, for one reader.
    case all
    /// Of each, for a reader of their own.
    case each
  }

  /// A publication, and the stream that it is for.
  private struct Take {
    let participant: RemoteParticipant
    let publication: RemoteTrackPublication
    let key: String
    /// What the stream takes now.
    var track: Track?
  }

  private let room: Room
  private let choice: RawChoice
  private let extent: Extent
  private let wish: Wish
  private let endsWithParticipant: Bool
  private let console: Console
  private let info: InfoLog?
  private let replies: Replies?
  private let makeStream: @Sendable (_ number: Int, _ identity: String) throws(LiveKitError) -> (any RawStream)
  /// In the order in which they came, by identity where each has one.
  private var streams: [(key: String, stream: any RawStream)] = []
  /// Of streams that are complete.
  private var gone: [RawReport] = []
  /// How many there were.
  private var made = 0
  /// Streams that have ended alone, and why.
  private var ended: [String: LiveKitError] = [:]
  /// Why the end is missing of the stream of somebody who left.
  private var cutShort: LiveKitError?
  private var takes: [Take] = []
  /// Who was chosen.
  private var identity: String?

  /// - Parameter makeStream: for a participant.
  init(
    room: Room, choice: RawChoice, extent: Extent, wish: Wish = Wish(), endsWithParticipant: Bool, console: Console,
    info: InfoLog?, replies: Replies?,
    makeStream: @escaping @Sendable (_ number: Int, _ identity: String) throws(LiveKitError) -> (any RawStream)
  ) {
    (self.room, self.choice, self.extent, self.wish) = (room, choice, extent, wish)
    (self.console, self.info, self.endsWithParticipant) = (console, info, endsWithParticipant)
    (self.replies, self.makeStream) = (replies, makeStream)
  }

  // MARK: The course of it

  /// Goes on until the time is over, a signal comes, readers have gone or the room is lost.
  func run(url: String, token: String, _ options: ConnectOptions, duration: Duration?, wait: Duration?) async throws {
    try begin()
    let (events, interruption) = (room.events, Interruption())
    let follower = Task { for await event in events { await self.follow(event) } }
    defer { follower.cancel() }
    try await console.join(url, interruption) {
      try await room.connect(url: url, token: token, connectOptions: options)
    }
    await arrange()
    var failure = await untilEnd(interruption, duration: duration, wait: wait)
    await withTaskGroup { [streams] group in
      for (_, stream) in streams { group.addTask { await stream.finish() } }
    }
    noteEnds()
    failure = failure ?? lack(isWhole: duration == nil || interruption.hasCome)
    let unsent = await replies?.finish()
    failure = failure ?? unsent
    report(failure)
    await room.disconnect()
    await info?.finish()
    if let failure { throw failure }
  }

  /// The only stream is there from the beginning, so that what is wrong with its destination is known at once.
  private func begin() throws(LiveKitError) {
    if extent != .each { try add("") }
  }

  private func add(_ key: String) throws(LiveKitError) {
    made += 1
    streams.append((key, try makeStream(made, key)))
  }

  /// - Returns: why not all is there that was asked for.
  private func untilEnd(
    _ interruption: Interruption, duration: Duration?, wait: Duration?
  ) async -> LiveKitError? {
    let deadline = wait.map { MediaTime.now + $0 }
    while true {
      let isInterrupted = await interruption.came(within: .milliseconds(100))
      let hasBegun = streams.contains { $0.stream.hasBegun }
      if isInterrupted {
        return hasBegun ? lack(isWhole: true) : LiveKitError(.noMedia, "stopped while waiting for \(choice.wish)")
      }
      for (_, stream) in streams { stream.tick() }
      noteEnds()
      if isOver(hasBegun) { return lack(isWhole: duration == nil) }
      if room.connectionState == .disconnected {
        return room.disconnectError ?? LiveKitError(.disconnected, "the connection to the room was lost")
      }
      guard !hasBegun else { continue }
      if wait == nil, let refusal = takes.compactMap(\.publication.refusal).first { return refusal }
      if let deadline, MediaTime.now >= deadline {
        return LiveKitError(.timedOut, "waited in vain for \(choice.wish); raise --wait to wait longer")
      }
    }
  }

  /// Whether nothing more is to come: who has sent nothing by then is not waited for.
  private func isOver(_ hasBegun: Bool) -> Bool {
    let open = streams.filter { ended[$0.key] == nil }
    if open.isEmpty { return !ended.isEmpty }
    return hasBegun && open.allSatisfy { $0.stream.isDone || !$0.stream.hasBegun }
      && open.contains(where: \.stream.isDone)
  }

  private func noteEnds() {
    for (key, stream) in streams where ended[key] == nil {
      guard let failure = stream.failure else { continue }
      ended[key] = failure
      guard failure.code == .readerGone || streams.count > 1 else { continue }
      console.say("\(failure.message).")
      console.event("reader_gone", ["message": failure.message])
    }
  }

  /// What kept streams from being whole. A reader that closes its end has had enough, which is no failure unless more
  /// was asked for.
  private func lack(isWhole: Bool) -> LiveKitError? {
    let failures = ended.sorted { $0.key < $1.key }.map(\.value) + [cutShort].compactMap { $0 }
    return failures.first { !isWhole || $0.code != .readerGone }
  }

  private func report(_ failure: LiveKitError?) {
    for report in gone + streams.map(\.stream.report) { report.tell(console, unit) }
    info?.tell("finished", failure.map { ["message": $0.message] } ?? [:])
  }

  private var unit: String { choice.kind == .video ? "frames" : "samples" }

  // MARK: Who is in the room

  private func follow(_ event: RoomEvent) async {
    console.tell(event)
    info?.note(event)
    switch event {
    case .trackPublished, .trackUnpublished, .trackSubscribed, .trackUnsubscribed, .reconnected: await arrange()
    case .participantDisconnected(let participant):
      await arrange()
      if endsWithParticipant { await end(participant.identity ?? participant.sid) }
    case .muteChanged(_, let publication, let isMuted):
      await arrange()
      takes.first { $0.publication === publication }.flatMap(stream)?.setMuted(isMuted, publication)
    default: break
    }
  }

  /// Of who has left: a command has nothing more to wait for. A file goes on when they come back.
  private func end(_ key: String) async {
    guard let index = streams.firstIndex(where: { $0.key == key }) else { return }
    let stream = streams.remove(at: index).stream
    await stream.finish()
    gone.append(stream.report)
    if ended[key] == nil { cutShort = cutShort ?? stream.failure }
  }

  /// Brings what is subscribed and what the streams take into line with what is published.
  private func arrange() async {
    guard room.connectionState == .connected else { return }
    let wanted = wanted()
    for take in takes where !wanted.contains(where: { $0.publication === take.publication }) {
      takes.removeAll { $0.publication === take.publication }
      stream(take)?.detach(take.publication)
      // Without a connection there is nothing to take, which the end of the room tells.
      try? await take.publication.set(subscribed: false)
    }
    for new in wanted where !takes.contains(where: { $0.publication === new.publication }) {
      guard prepare(new) else { continue }
      takes.append(new)
      try? await new.publication.set(subscribed: true)
    }
    for index in takes.indices { follow(takeAt: index) }
    for take in takes where take.track != nil { await ask(take.publication) }
  }

  /// - Returns: whether there is a stream for it.
  private func prepare(_ take: Take) -> Bool {
    guard stream(take) == nil else { return true }
    guard ended[take.key] == nil else { return false }
    do throws(LiveKitError) { try add(take.key) } catch {
      ended[take.key] = error
      console.fail(error)
      return false
    }
    return true
  }

  /// Hands the track of a publication to its stream, when there is another one than before.
  private func follow(takeAt index: Int) {
    let take = takes[index]
    guard take.track !== take.publication.track else { return }
    takes[index].track = take.publication.track
    stream(take)?.detach(take.publication)
    if take.publication.track != nil { stream(take)?.attach(take.publication, of: take.participant) }
  }

  private func stream(_ take: Take) -> (any RawStream)? { streams.first { $0.key == take.key }?.stream }

  /// Has no more sent than is wanted.
  private func ask(_ publication: RemoteTrackPublication) async {
    guard publication.kind == .video else { return }
    if let size = wish.size { try? await publication.set(preferredDimensions: size) }
    if let fps = wish.fps { try? await publication.set(preferredFPS: UInt(fps)) }
  }

  /// Whoever was chosen stays chosen as long as they publish something.
  private func wanted() -> [Take] {
    let there = room.remoteParticipants.values.filter(choice.accepts).sorted { $0.sid < $1.sid }
    let found = there.flatMap { participant in
      publications(of: participant).map { publication in
        let key = extent == .each ? participant.identity ?? participant.sid : ""
        return Take(participant: participant, publication: publication, key: key)
      }
    }
    guard extent == .one else { return found }
    // Whoever is muted may stay so for long, and another one be there.
    let hasBegun = streams.contains { $0.stream.hasBegun }
    let chosen =
      found.first { hasBegun && $0.participant.identity == identity }
      ?? found.first { !$0.publication.isMuted } ?? found.first
    identity = chosen?.participant.identity ?? identity
    return chosen.map { [$0] } ?? []
  }

  private func publications(of participant: RemoteParticipant) -> [RemoteTrackPublication] {
    let all = participant.trackPublications.values
    if extent == .all { return all.filter(choice.accepts) }
    return choice.best(of: all).map { [$0] } ?? []
  }
}
