import Foundation
import MediaBridge
import MediaCore

/// Whoever runs a job: a recorder of one participant, or the composite of a room. It says what is special about its source;
/// all else that becomes of a job is in the extensions.
protocol JobSource: EgressJob {
  nonisolated var room: Room { get }
  nonisolated var subscriptions: SubscriptionLease { get }
  nonisolated var notifier: EgressNotifier { get }
  /// Rings when something changes that is waited for.
  nonisolated var bell: Bell { get }
  var job: JobState { get set }
  /// What is asked of the destinations.
  var asked: RecordingOptions { get }

  /// In words.
  var request: String { get }
  /// Who is recorded alone; nil for all who are there.
  var identity: String? { get }
  /// The server's ids of single tracks that are recorded; empty where they are not named.
  var trackSids: Set<String> { get }
  /// Whether somebody is one of those whose leaving may end it.
  func counts(_ participant: RemoteParticipant) -> Bool
  /// Why the source brings nothing any more; nil while it may.
  var sourceFailure: LiveKitError? { get }
  var received: [RecordedTracks.Received] { get }
  /// What arrives, or did.
  var incoming: [IncomingMedia] { get }
  var omissions: OmissionList { get set }
  /// Nil for what is not mixed.
  var losses: MixLosses? { get }
  /// Where nothing came of a track that is mixed; none for what is not.
  func mixedGaps(until length: Duration) -> [Manifest.Span]

  /// Waits for the source, and returns when the first moment of it is written.
  func begin() async throws(LiveKitError)
  func heed(_ event: RoomEvent) async
  /// Brings what arrives into line with the room, again and again.
  func followRoom() async
  /// From one look at room and destinations to the next.
  nonisolated var pace: Duration { get }
  /// What is known of what is sent, for a destination that changes.
  var flowing: SentMedia { get }
  /// Has what arrives taken in the forms that the destinations want.
  func feed()
  /// Learns how many packets came of what arrives.
  func countPackets() async
  /// Has templates of the source that have changed take over.
  func renewSource()
  /// Has nothing arrive any more once all before that moment has.
  func stopArriving(at end: MediaTime) async
}

extension Date {
  /// - Parameter uptime: how long the machine was up then.
  fileprivate init(uptime: Duration) { self.init(timeIntervalSinceNow: -(MediaTime.uptime - uptime).seconds) }
}

extension JobSource {
  nonisolated var loggers: Loggers { Loggers(room.options.logger) }

  var trackSids: Set<String> { [] }
  var losses: MixLosses? { nil }
  func mixedGaps(until length: Duration) -> [Manifest.Span] { [] }
  // What comes and goes is told by events; each look costs some wakes of threads.
  nonisolated var pace: Duration { .milliseconds(400) }

  /// What has begun.
  var run: JobRun? { job.run }

  public nonisolated var events: AsyncStream<EgressEvent> { notifier.makeStream() }
  nonisolated func tell(_ event: EgressEvent) { notifier.tell(event) }

  // MARK: The beginning

  public func start() async throws(LiveKitError) {
    job.course.start()
    do throws(LiveKitError) {
      try await prepare()
      try await begin()
      job.tell()
      tell(.started(participant: identity, startedTracks))
      tellDestinations()
    } catch {
      job.course.refusal = error
      _ = try? await finish()
      // Where it was finished meanwhile, what was looked for may have been subscribed to since.
      await subscriptions.keep(only: [])
      throw error
    }
  }

  /// With what is made of them for the first destination.
  private var startedTracks: [OutputTrack] {
    let known = figures.tracks
    return received.map { received in
      var track = received.track
      track.encoded = known.first { $0.kind == track.kind }?.encoded
      return track
    }
  }

  /// Checks what is asked for, and takes the files.
  /// - Parameters:
  ///   - options: without the kinds that no destination takes, afterwards.
  ///   - templates: of each destination, where they are read already.
  func checkTargets(_ options: inout RecordingOptions, _ templates: [OutputTemplates]? = nil) throws(LiveKitError) {
    if job.targets == nil {
      var targets = try RecordingTargets(
        options, templates, isMixed: flowing.isMixed, folder: room.options.pipelineFolder, loggers: loggers)
      try targets.check(&options)
      job.targets = targets
    }
    try job.targets?.claim()
  }

  /// Opens all destinations; one that cannot be opened fails alone.
  /// - Parameters:
  ///   - video: who is asked for keyframes.
  ///   - opensLater: whether that is left to `openDestinations`.
  /// - Throws: why none can be.
  func begin(
    with sent: SentMedia, beginsWithVideo: Bool, video: Locked<IncomingMedia?>, opensLater: Bool = false
  ) throws(LiveKitError) {
    let all = job.targets?.all ?? []
    let made = Job(
      beginsWithVideo: beginsWithVideo && all.contains { $0.planner.kinds.contains(.video) }, duration: asked.duration,
      onKeyframeNeeded: { video.withLock { $0 }?.requestKeyframe() }, onChange: { [bell] in bell.ring() })
    if let start = job.pausedSince { _ = made.media.pause(at: start) }
    var run = JobRun(job: made, destinations: [], video: video)
    if !opensLater { try openDestinations(of: &run, for: sent) }
    job.begin(run)
  }

  /// Opens all destinations of a job that was to begin without them; once they are, it does nothing.
  /// - Throws: why none can be.
  func openDestinations(for sent: SentMedia) throws(LiveKitError) {
    guard var run = job.run, run.destinations.isEmpty else { return }
    defer { job.run = run }
    try openDestinations(of: &run, for: sent)
  }

  private func openDestinations(of run: inout JobRun, for sent: SentMedia) throws(LiveKitError) {
    let made = run.job
    run.destinations = (job.targets?.all ?? []).map { open($0, in: made, for: sent) }
    if run.outputs.isEmpty, let lack = run.lack { throw lack }
  }

  /// Returns when the first moment is written, and tells how the destinations are from then on.
  /// - Parameters:
  ///   - wait: for what is missing; what is on its way has its time.
  ///   - pause: from one look to the next, where nothing rings.
  ///   - look: says what is missing; nil where it is on its way.
  func awaitFirstMoment(
    _ wait: SourceWait, pause: Duration? = nil, look: () async -> (missing: String?, advice: String)
  ) async throws(LiveKitError) {
    while run?.isActive != true {
      if let jobFailure { throw jobFailure }
      guard !job.isFinished else { throw .stoppedEarly }
      let (missing, advice) = await look()
      let limit = missing == nil ? nil : wait.deadline
      try SourceWait(room: room, deadline: limit).check(for: missing ?? "the first moment", advice: advice)
      await bell.wait(until: pause.map { .now + $0 } ?? limit)
    }
    // Events tell of changes alone.
    note(speakers: room.activeSpeakers)
  }

  /// Follows the room, and looks after the destinations, until it is finished.
  func keepGoing() {
    let events = room.events
    job.run?.tasks.append(
      Task { [weak self] in
        for await event in events {
          if case .activeSpeakersChanged(let speakers) = event { await self?.note(speakers: speakers) }
          await self?.noteTranscription(event)
          await self?.heed(event)
        }
      })
    job.run?.tasks.append(
      Task { [weak self, pace] in
        while !Task.isCancelled {
          try? await Task.sleep(for: pace)
          guard let self else { return }
          await self.tick()
        }
      })
  }

  private func tick() async {
    await followRoom()
    await watchConnection()
    advanceCaptions()
    endWhatFailed()
    run?.job.beginWithBlack()
    followTemplates()
    renewSource()
    tellDestinations()
    tellSlowness()
    watchPresence()
    watchRoom()
    watchSleep()
    watchPermission()
    if job.isTold, let reason = job.course.news(of: ended, jobFailure) { tell(.over(reason)) }
    run?.job.media.advance(to: job.presence.reading(at: .now))
  }

  /// Once.
  private func tellSlowness() {
    guard job.isTold, !job.isSlow, let run else { return }
    let isSlow = losses.map { $0.framesNotMixed > 0 } == true || run.outputs.contains { $0.framesLeftOut > 0 }
    guard isSlow else { return }
    job.isSlow = true
    tell(.tooSlow(at: jobAge))
  }

  /// - Parameter speakers: all who speak from now on.
  private func note(speakers: [Participant]) {
    guard run?.isActive == true else { return }
    let counted = speakers.filter { speaker in
      // Of the others nothing is heard.
      if let identity { return speaker.identity == identity }
      return (speaker as? RemoteParticipant).map { counts($0) } ?? true
    }
    job.speakers.note(Set(counted.compactMap(\.identity)), at: jobAge)
  }

  // MARK: State

  public var manifests: [Manifest] {
    guard let media = run?.job.media, let origin = media.origin else { return [] }
    let gaps = [Track.Kind.video, .audio].flatMap { kind in
      media.gaps(kind).map { Manifest.Span(kind: kind.description, from: $0.from, to: $0.to) }
    }
    let end = media.moment(of: media.length) ?? origin
    return [
      Manifest(
        figures, of: room, identity, from: Date(uptime: media.uptime(at: origin)),
        to: Date(uptime: media.uptime(at: end)), media.length,
        tracks: job.arrivals.tracks, gaps: gaps + mixedGaps(until: media.length),
        speakers: job.speakers)
    ]
  }

  public var info: EgressInfo {
    EgressInfo(
      request, of: room, job.course, isActive: run?.isActive == true, isEnding: job.isFinished,
      failure: sourceLoss ?? run?.lack, ending: ended, figures)
  }

  public var elapsed: Duration { jobAge }
  public var failure: LiveKitError? { jobFailure }
  // The same without `await`, for whoever is on the actor.
  var jobAge: Duration { run?.job.media.age(at: .now) ?? .zero }
  var jobFailure: LiveKitError? { sourceLoss ?? run?.failure }
  /// Why nothing comes any more.
  private var sourceLoss: LiveKitError? { sourceFailure ?? job.course.roomLoss }

  var figures: OutputProgress {
    var figures = run?.progress(received, omissions.all) ?? OutputProgress(omissions: omissions.all)
    figures.mixLosses = losses
    return figures
  }

  public func progress() async -> OutputProgress {
    // What arrives later is nothing of it.
    if !job.isFinished {
      await countPackets()
      if job.isTold { await noteConnection() }
    }
    return figures
  }

  // MARK: The end

  public func finish() async throws(LiveKitError) -> OutputProgress {
    guard !job.isFinished else { return await progress() }
    watchRoom()
    watchSleep()
    let moment = job.presence.end ?? .now
    job.finish()
    // Who still waits for its beginning looks at once.
    bell.ring()
    async let absence: Void = noteAbsence(at: moment)
    await run?.stop()
    await stopArriving(at: moment)
    await absence
    await subscriptions.keep(only: [])
    advanceCaptions(isOver: true)
    await run?.finish(at: moment)
    job.targets?.release()
    let last = figures
    // Notes when each has ended.
    _ = job.run?.changes(last)
    job.course.end()
    tell(.ended(await info))
    notifier.end()
    if let lack = sourceLoss ?? run?.lack { throw lack }
    return figures
  }
}
