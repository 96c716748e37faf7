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

  private struct Entry {
    let stream: any RawStream
    var publication: RemoteTrackPublication?
    /// What it takes now.
    var track: Track?
  }

  private let room: Room
  private let choice: RawChoice
  private let wish: Wish
  private let console: Console
  private let info: InfoLog?
  private let makeStream: @Sendable (_ number: Int, _ identity: String) throws(LiveKitError) -> (any RawStream)
  /// In the order in which they came.
  private var entries: [Entry] = []
  private var identity: String?

  /// - Parameter makeStream: for a participant.
  init(
    room: Room, choice: RawChoice, wish: Wish = Wish(), console: Console, info: InfoLog?,
    makeStream: @escaping @Sendable (_ number: Int, _ identity: String) throws(LiveKitError) -> (any RawStream)
  ) {
    (self.room, self.choice, self.wish, self.console, self.info) = (room, choice, wish, console, info)
    self.makeStream = makeStream
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
    let failure = await untilEnd(interruption, duration: duration, wait: wait)
    for entry in entries { await entry.stream.finish() }
    report(failure)
    await room.disconnect()
    await info?.finish()
    if let failure { throw failure }
  }

  /// The only stream is there from the beginning, so that what is wrong with its destination is known at once.
  private func begin() throws(LiveKitError) { entries.append(Entry(stream: try makeStream(1, ""))) }

  /// - Returns: why not all is there that was asked for.
  private func untilEnd(
    _ interruption: Interruption, duration: Duration?, wait: Duration?
  ) async -> LiveKitError? {
    let deadline = wait.map { MediaTime.now + $0 }
    while true {
      if await interruption.came(within: .milliseconds(100)) {
        let isEmpty = !entries.contains { $0.stream.hasBegun }
        return isEmpty ? LiveKitError(.noMedia, "stopped while waiting for \(choice.wish)") : nil
      }
      for entry in entries { entry.stream.tick() }
      let streams = entries.map(\.stream)
      if streams.allSatisfy(\.isDone) { return nil }
      if let failure = streams.compactMap(\.failure).first { return self.failure(failure, isWhole: duration == nil) }
      if room.connectionState == .disconnected {
        return room.disconnectError ?? LiveKitError(.disconnected, "the connection to the room was lost")
      }
      guard !streams.contains(where: \.hasBegun) else { continue }
      if wait == nil, let refusal = entries.compactMap(\.publication?.refusal).first { return refusal }
      if let deadline, MediaTime.now >= deadline {
        return LiveKitError(.timedOut, "waited in vain for \(choice.wish); raise --wait to wait longer")
      }
    }
  }

  /// A reader that closes its end has had enough, which is no failure unless more was asked for.
  private func failure(_ error: LiveKitError, isWhole: Bool) -> LiveKitError? {
    guard error.code == .readerGone, isWhole else { return error }
    console.say("\(error.message).")
    console.event("reader_gone", ["message": error.message])
    return nil
  }

  private func report(_ failure: LiveKitError?) {
    for report in entries.map(\.stream.report) {
      let dropped = report.dropped > 0 ? ", \(report.dropped) dropped because the reader was too slow" : ""
      let size = report.size.map { " of \($0)" } ?? ""
      console.say("\(report.name): \(report.written) \(unit)\(size)\(dropped)")
      console.event(
        "finished",
        [
          "destination": report.name, "written": report.written, "dropped": report.dropped,
          "duration": report.duration, "size": report.size ?? "",
        ])
    }
    info?.tell("finished", failure.map { ["message": $0.message] } ?? [:])
  }

  private var unit: String { choice.kind == .video ? "frames" : "samples" }

  // MARK: Who is in the room

  private func follow(_ event: RoomEvent) async {
    console.tell(event)
    switch event {
    case .trackPublished, .trackUnpublished, .trackSubscribed, .trackUnsubscribed, .participantDisconnected,
      .reconnected:
      await arrange()
    case .muteChanged(_, let publication, let isMuted):
      entries.first { $0.publication === publication }?.stream.setMuted(isMuted)
    case .speakingChanged(let participant, let isSpeaking):
      info?.tell("speaking", ["participant": participant.identity ?? "", "speaking": isSpeaking])
    default: break
    }
  }

  /// Brings what is subscribed and what the streams take into line with what is published.
  private func arrange() async {
    guard room.connectionState == .connected else { return }
    let found = wanted()
    for index in entries.indices {
      if entries[index].publication !== found?.publication { await take(found?.publication, at: index) }
      guard let (participant, publication) = found, entries[index].track !== publication.track else { continue }
      entries[index].track = publication.track
      entries[index].stream.detach()
      guard publication.track != nil else { continue }
      entries[index].stream.attach(publication, of: participant)
      await ask(publication)
    }
  }

  private func take(_ publication: RemoteTrackPublication?, at index: Int) async {
    let old = entries[index].publication
    (entries[index].publication, entries[index].track) = (publication, nil)
    entries[index].stream.detach()
    // Without a connection there is nothing to take, which the end of the room tells.
    if let old { try? await old.set(subscribed: false) }
    try? await publication?.set(subscribed: true)
  }

  /// Has no more sent than is wanted.
  private func ask(_ publication: RemoteTrackPublication) async {
    guard publication.kind == .video else { return }
    if let size = wish.size { try? await publication.set(preferredDimensions: size) }
    if let fps = wish.fps { try? await publication.set(preferredFPS: UInt(fps)) }
  }

  /// Whoever was chosen stays chosen as long as they publish something.
  private func wanted() -> (participant: RemoteParticipant, publication: RemoteTrackPublication)? {
    let there = room.remoteParticipants.values.filter(choice.accepts).sorted { $0.sid < $1.sid }
    let found = there.compactMap { participant in
      choice.best(of: participant.trackPublications.values).map { (participant, $0) }
    }
    let chosen = found.first { $0.0.identity == identity } ?? found.first
    if let chosen { identity = chosen.0.identity }
    return chosen
  }
}
