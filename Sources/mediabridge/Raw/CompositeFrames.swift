import Egress
import MediaBridge
import MediaCore

/// The frames of a mixed room for one reader.
struct CompositeFrames {
  let room: Room
  let stream: FrameStream
  let job: RoomComposite
  let console: Console
  let info: InfoLog?
  let replies: Replies?

  /// Nothing happens before `run`.
  init(
    room: Room, options: CompositeOptions, stream: FrameStream, _ console: Console, info: InfoLog?, replies: Replies?
  ) {
    (self.room, self.stream, self.console, self.info, self.replies) = (room, stream, console, info, replies)
    job = RoomComposite(framesOf: room, options: options) { stream.render(frame: $0) }
    replies?.show(on: job)
  }

  /// Goes on until all is there that was asked for, a signal comes, the reader has gone or the room is lost.
  func run(_ visit: RoomVisit) async throws {
    try await job.prepare()
    let (events, interruption) = (room.events, visit.interruption)
    let follower = Task { [console, info] in
      for await event in events {
        console.tell(event)
        info?.note(event)
      }
    }
    let reporter = Task { [console, events = job.events] in
      for await event in events {
        console.tell(composite: event)
        tell(event)
      }
    }
    defer {
      follower.cancel()
      reporter.cancel()
    }
    do { try await visit.join { await abandon() } } catch {
      await abandon()
      throw error
    }
    var failure = await follow(interruption)
    _ = try? await job.finish()
    let isNew = stream.failure == nil
    await stream.finish()
    if isNew { failure = failure ?? lack(isWhole: interruption.hasCome) }
    let unsent = await replies?.finish()
    let report = stream.report
    failure = failure ?? report.lack ?? unsent
    report.tell(console, "frames")
    info?.tell("finished", failure.map { ["message": $0.message] } ?? [:])
    await visit.leave()
    let untold = await info?.finish()
    failure = failure ?? untold
    if let failure { throw failure }
  }

  /// Nothing has come.
  private func abandon() async {
    _ = try? await job.finish()
    await stream.finish()
    _ = await info?.finish()
  }

  /// What is told of other sources alike; nothing of other events.
  private func tell(_ event: EgressEvent) {
    switch event {
    case .waiting(let missing): console.tell(waitingFor: missing)
    case .reloaded(let reload): console.tell(reloadOf: reload.templates, ["start": reload.start.seconds])
    case .reloadRefused(let error, _): console.tell(refusalOfReload: error)
    default: break
    }
  }

  /// - Returns: why not all is there that was asked for.
  private func follow(_ interruption: Interruption) async -> LiveKitError? {
    do throws(LiveKitError) { try await start(interruption) } catch {
      if stream.failure != nil { return lack(isWhole: false) }
      return interruption.hasCome
        ? LiveKitError(.noMedia, "stopped while waiting for somebody who sends something")
        : room.disconnectError ?? error
    }
    while true {
      if await interruption.came(within: .milliseconds(100)) { return nil }
      info?.tick()
      stream.output.look()
      if stream.failure != nil { return lack(isWhole: false) }
      if stream.isDone { return nil }
      if let failure = await job.failure { return failure }
      if room.connectionState == .disconnected {
        if room.wasClosed, !stream.isLimited { return nil }
        return room.loss
      }
    }
  }

  /// A reader that closes its end has had enough, which is no failure unless more was asked for.
  private func lack(isWhole: Bool) -> LiveKitError? {
    guard let failure = stream.failure, failure.code == .readerGone else { return stream.failure }
    console.tell(endOf: stream.name, failure)
    return stream.isLimited && !isWhole ? failure : nil
  }

  private func start(_ interruption: Interruption) async throws(LiveKitError) {
    let watcher = Task { [job, stream] in
      while !Task.isCancelled, stream.failure == nil, await !interruption.came(within: .milliseconds(250)) {
        stream.output.look()
      }
      if !Task.isCancelled { _ = try? await job.finish() }
    }
    defer { watcher.cancel() }
    try await job.start()
  }
}
