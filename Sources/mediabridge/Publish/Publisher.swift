import Foundation
import MediaBridge
import MediaCore

/// Publishes sources until they end, and begins again with those that went away.
struct Publisher {
  let room: Room
  let sources: [Source]
  let process: PublishProcess
  let video: VideoPublishOptions
  let audio: AudioPublishOptions
  let isLooped: Bool
  let reconnectFor: Duration
  let console: Console
  /// What is in the files, by the place of each among the sources.
  private let found = Locked<[Int: Set<Track.Kind>]>([:])

  /// Finds out what is in the files, before the room is joined: nobody is told to come for what is no media.
  /// - Throws: what is wrong with one, or that a signal has come meanwhile.
  func readFiles(_ interruption: Interruption) async throws {
    let files = sources.indices.filter { sources[$0].media.isFile }
    guard !files.isEmpty else { return }
    try await unlessOver(interruption) { for index in files { try await readFile(index) } }
    if interruption.hasCome { throw LiveKitError(.cancelled, "stopped while the files were looked at") }
  }

  private func readFile(_ index: Int) async throws(LiveKitError) {
    let source = sources[index]
    do throws(LiveKitError) {
      let kinds = try await source.media.kinds(within: Self.patience)
      found.withLock { $0[index] = kinds }
    } catch { throw source.word.explained(error) }
  }

  /// Returns at the end of the files, at a signal, or when the time is over.
  /// - Throws: why nothing can be published any more, or something was not.
  func run(_ interruption: Interruption, for duration: Duration?) async throws {
    let news = PublishNews(of: room.events)
    let losses = console.tellLosses(of: room)
    defer {
      losses.cancel()
      news.end()
    }
    try await unlessOver(interruption) { try await publishAtOnce(news) }
    var reason: (any Error)?
    do { try await goOn(until: interruption, for: duration, news) } catch { reason = error }
    let (published, since) = news.begun
    console.endLive()
    guard let begun = since else {
      if let reason { throw reason }
      return console.event("finished", ["seconds": 0])
    }
    // What is under way gets there.
    try? await Task.sleep(for: .milliseconds(300))
    tellEnd(of: published.map(\.publication), since: begun)
    if let reason { throw reason }
    if let reason = published.compactMap({ failure(of: $0.publication) }).first { throw reason }
  }

  /// Returns when no source has anything left, at a signal, or when the time is over.
  private func goOn(until interruption: Interruption, for duration: Duration?, _ news: PublishNews) async throws {
    guard !interruption.hasCome else { return }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        await interruption.wait(atMost: duration)
        if !interruption.hasCome { try checkCalls(news) }
        return true
      }
      group.addTask {
        try await follow(news).get()
        return true
      }
      group.addTask {
        await watch(news)
        return false
      }
      for index in listeners {
        group.addTask {
          try await unlessOver(interruption) { try await listen(index, news) }
          return false
        }
      }
      while let isOver = try await group.next() {
        if isOver { return }
      }
    }
  }

  /// A file that goes as it is begins with a keyframe, which is not made again for those who come a moment later. Nobody is
  /// told of a track before the server has something of it.
  private func untilSeen(_ published: [LocalTrackPublication], _ news: PublishNews) async {
    let passed = published.filter { $0.kind == .video && $0.way == .asItIs }
    guard !passed.isEmpty else { return }
    for publication in passed { publication.showFirst() }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await Task.sleep(for: Self.notice) }
      group.addTask {
        for await _ in news.views { break }
        // The server says so before the other side has agreed to it.
        try? await Task.sleep(for: .milliseconds(500))
      }
      await group.next()
      group.cancelAll()
    }
  }

  /// How long those who are there may take to subscribe.
  private static let notice = Duration.milliseconds(1500)

  /// Returns when that is done, at a signal, or when its task is cancelled.
  /// - Throws: what that throws, or why the room has ended meanwhile.
  private func unlessOver(
    _ interruption: Interruption, _ work: @escaping @Sendable () async throws -> Void
  ) async throws {
    let (outcome, over) = (Outcome<Void, any Error>(), Outcome<Void, Never>())
    let tasks: [Task<Void, Never>] = [
      Task {
        await interruption.wait(atMost: nil)
        outcome.settle(.success(()))
      },
      Task { [events = room.events] in
        for await case .disconnected(let error?) in events { outcome.settle(.failure(error)) }
      },
      Task {
        do {
          try await work()
          outcome.settle(.success(()))
        } catch { outcome.settle(.failure(error)) }
        over.settle(.success(()))
      },
    ]
    let result = await withTaskCancellationHandler { () async -> Result<Void, any Error> in
      do { return .success(try await outcome.value()) } catch { return .failure(error) }
    } onCancel: {
      outcome.settle(.success(()))
    }
    for task in tasks { task.cancel() }
    // What waits for the server ends with the connection.
    let limit = Task {
      try? await Task.sleep(for: Self.farewell)
      over.settle(.success(()))
    }
    await over.value()
    limit.cancel()
    try result.get()
  }

  /// What waits for nobody.
  private func publishAtOnce(_ news: PublishNews) async throws {
    var published: Published = []
    for index in sources.indices where !sources[index].word.isListener {
      do { published += try await publish(index) } catch let error as LiveKitError { throw explained(error, index) }
    }
    if listeners.isEmpty { try process.check(hasVideo: Self.hasVideo(published)) }
    _ = try await begin(published, news)
  }

  /// What the room ended by says more than what could not be done without it.
  func explained(_ error: LiveKitError, _ index: Int) -> LiveKitError {
    room.disconnectError ?? sources[index].word.explained(error)
  }

  static func hasVideo(_ published: Published) -> Bool { published.contains { $0.publication.kind == .video } }

  /// - Returns: all that goes on.
  func begin(_ published: Published, _ news: PublishNews) async throws -> Published {
    guard !published.isEmpty else { return news.begun.published }
    let ways = published.map(\.publication.way)
    tell(published.map(\.publication))
    let files = Set(published.map(\.index)).filter { sources[$0].media.isFile }
    // Nothing of a file is lost while its tracks are announced.
    await untilSeen(published.filter { files.contains($0.index) }.map(\.publication), news)
    for index in files.sorted() { try await sources[index].media.restart() }
    return news.begin(published, told: ways)
  }

  /// - Parameter onOpen: called once it is open, and somebody may call it.
  func publish(_ index: Int, onOpen: @escaping @Sendable () -> Void = {}) async throws -> Published {
    let source = sources[index]
    if source.media.asksPerson { tellWhoIsWaitedFor(source.word) }
    let kinds = try await kinds(of: index, onOpen: onOpen)
    for kind in source.media.missing { tellMissing(kind, of: source.word) }
    if source.media.isFile { await source.media.holdBack() }
    var published: [LocalTrackPublication] = []
    do {
      if kinds.contains(.video) { published.append(try await publishVideo(of: source)) }
      if kinds.contains(.audio) { published.append(try await publishAudio(of: source)) }
    } catch {
      // One without the other is nothing that goes on.
      for publication in published { try? await room.localParticipant.unpublish(publication: publication) }
      throw error
    }
    return published.map { (index, $0) }
  }

  private func publishVideo(of source: Source) async throws -> LocalTrackPublication {
    let isScreen = source.word.isScreen
    let track = source.media.makeVideoTrack(
      name: isScreen ? Track.screenShareVideoName : Track.cameraName, source: isScreen ? .screenShareVideo : .camera)
    track.processor = try process.make()
    return try await room.localParticipant.publish(videoTrack: track, options: video)
  }

  private func publishAudio(of source: Source) async throws -> LocalTrackPublication {
    var audio = audio
    audio.dtx = source.word.isMicrophone
    let isScreen = source.word.isScreenAudio
    let track = source.media.makeAudioTrack(
      name: isScreen ? Track.screenShareAudioName : Track.microphoneName,
      source: isScreen ? .screenShareAudio : .microphone)
    return try await room.localParticipant.publish(audioTrack: track, options: audio)
  }

  private func kinds(
    of index: Int, onOpen: @escaping @Sendable () -> Void
  ) async throws(LiveKitError) -> Set<Track.Kind> {
    if let kinds = found.withLock({ $0[index] }) { return kinds }
    let source = sources[index]
    return try await source.media.kinds(
      within: source.word.isListener ? Self.ages : Self.patience, onOpen: onOpen)
  }

  /// How long what is there may take to give something.
  private static let patience = Duration.seconds(10)
  /// Whoever is to call may do so when they like, within the time that there is.
  private static let ages = Duration.seconds(10 * 365 * 86_400)
  /// How long a source that is being opened may take to be let go of.
  private static let farewell = Duration.seconds(1)
}
