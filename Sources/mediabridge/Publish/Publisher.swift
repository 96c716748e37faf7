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

  /// Returns at the end of the files, at a signal, or when the time is over.
  /// - Throws: why nothing can be published any more, or something was not.
  func run(_ interruption: Interruption, for duration: Duration?) async throws {
    let news = PublishNews(of: room.events)
    let losses = console.tellLosses(of: room)
    defer {
      losses.cancel()
      news.end()
    }
    try await publish(until: interruption, for: duration, news)
    let (published, since) = news.begun
    guard let begun = since else { return console.event("finished", ["seconds": 0]) }
    let ends = await withTaskGroup(of: Result<Void, LiveKitError>?.self) { group in
      group.addTask {
        await interruption.wait(atMost: duration)
        return .success(())
      }
      group.addTask { await follow(news.pieces, published) }
      group.addTask { await watch(published, since: begun) { news.tell(.silence(of: $0)) } }
      defer { group.cancelAll() }
      while let result = await group.next() {
        if let result { return result }
      }
      return .success(())
    }
    console.endLive()
    // What is under way gets there.
    try? await Task.sleep(for: .milliseconds(300))
    console.say("Published for \(Format.duration(.now - begun))")
    tellSlowness(published.map(\.publication))
    console.event("finished", ["seconds": Format.seconds(.now - begun)])
    try ends.get()
    if let reason = published.compactMap({ failure(of: $0.publication) }).first { throw reason }
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

  /// Returns when all of it is published, or at a signal.
  /// - Throws: why nothing can be published, or why the room has ended meanwhile.
  private func publish(until interruption: Interruption, for duration: Duration?, _ news: PublishNews) async throws {
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
          try await publishAll(for: duration, news)
          outcome.settle(.success(()))
        } catch { outcome.settle(.failure(error)) }
        over.settle(.success(()))
      },
    ]
    let result: Result<Void, any Error>
    do { result = .success(try await outcome.value()) } catch { result = .failure(error) }
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

  private func publishAll(for duration: Duration?, _ news: PublishNews) async throws {
    let listeners = sources.indices.filter { sources[$0].word.isListener }
    let others = try await publish(sources.indices.filter { !listeners.contains($0) }, for: duration)
    if listeners.isEmpty { try process.check(hasVideo: Self.hasVideo(others)) }
    try await begin(others, news)
    guard !listeners.isEmpty else { return }
    // Nobody else waits until somebody calls them.
    let called = try await publish(listeners, for: duration)
    try process.check(hasVideo: Self.hasVideo(others + called))
    try await begin(called, news)
  }

  private static func hasVideo(_ published: Published) -> Bool { published.contains { $0.publication.kind == .video } }

  private func publish(_ indices: [Int], for duration: Duration?) async throws -> Published {
    var published: Published = []
    for index in indices { published += try await publish(sources[index], for: duration).map { (index, $0) } }
    return published
  }

  private func begin(_ published: Published, _ news: PublishNews) async throws {
    guard !published.isEmpty else { return }
    tell(published.map(\.publication))
    let files = Set(published.map(\.index)).filter { sources[$0].media.isFile }
    // Nothing of a file is lost while its tracks are announced.
    await untilSeen(published.filter { files.contains($0.index) }.map(\.publication), news)
    for index in files.sorted() { try await sources[index].media.restart() }
    news.begin(published)
  }

  private func publish(_ source: Source, for duration: Duration?) async throws -> [LocalTrackPublication] {
    do {
      tellWhoIsWaitedFor(source.word, asksPerson: source.media.asksPerson)
      let kinds = try await source.media.kinds(within: source.word.isListener ? duration ?? Self.ages : Self.patience)
      for kind in source.media.missing { tellMissing(kind, of: source.word) }
      if source.media.isFile { await source.media.holdBack() }
      let isScreen = source.word.isScreen
      var published: [LocalTrackPublication] = []
      if kinds.contains(.video) {
        let track = source.media.makeVideoTrack(
          name: isScreen ? Track.screenShareVideoName : Track.cameraName,
          source: isScreen ? .screenShareVideo : .camera)
        track.processor = try process.make()
        published.append(try await room.localParticipant.publish(videoTrack: track, options: video))
      }
      if kinds.contains(.audio) {
        var audio = audio
        audio.dtx = source.word.isMicrophone
        let isScreen = source.word.isScreenAudio
        let track = source.media.makeAudioTrack(
          name: isScreen ? Track.screenShareAudioName : Track.microphoneName,
          source: isScreen ? .screenShareAudio : .microphone)
        published.append(try await room.localParticipant.publish(audioTrack: track, options: audio))
      }
      return published
    } catch let error as LiveKitError {
      // What the room ended by says more than what could not be done without it.
      throw room.disconnectError ?? source.word.explained(error)
    }
  }

  private func tellWhoIsWaitedFor(_ source: PublishSource, asksPerson: Bool) {
    guard source.isListener || asksPerson else { return }
    let what = source.isListener ? "waits for somebody who calls" : "choose at the desktop what is to be seen"
    console.say("\(source.shown): \(what) (Ctrl-C ends)")
    console.event("waiting", ["source": source.shown])
  }

  /// How long what is there may take to give something.
  private static let patience = Duration.seconds(10)
  /// Whoever is to call may do so when they like.
  private static let ages = Duration.seconds(10 * 365 * 86_400)
  /// How long a source that is being opened may take to be let go of.
  private static let farewell = Duration.seconds(1)
}
