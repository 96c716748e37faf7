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
    let (events, early) = (room.events, room.events)
    guard let published = try await publish(until: interruption, for: duration) else {
      return console.event("finished", ["seconds": 0])
    }
    let begun = ContinuousClock.now
    try process.check(published.map(\.publication))
    tell(published.map(\.publication))
    // Nothing of a file is lost while its tracks are announced.
    await untilSeen(published.filter { sources[$0.index].media.isFile }.map(\.publication), early)
    for source in sources where source.media.isFile { try await source.media.restart() }
    let (news, told) = AsyncStream.makeStream(of: (News, ContinuousClock.Instant).self)
    let ends = await withTaskGroup(of: Result<Void, LiveKitError>?.self) { group in
      group.addTask {
        await interruption.wait(atMost: duration)
        return .success(())
      }
      group.addTask {
        for await event in events { told.yield((.room(event), .now)) }
        return nil
      }
      group.addTask { await follow(news, published) }
      group.addTask { await watch(published, since: begun) { told.yield((.silence(of: $0), .now)) } }
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
  private func untilSeen(_ published: [LocalTrackPublication], _ events: AsyncStream<RoomEvent>) async {
    let passed = published.filter { $0.kind == .video && $0.way == .asItIs }
    guard !passed.isEmpty else { return }
    for publication in passed { publication.showFirst() }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await Task.sleep(for: Self.notice) }
      group.addTask {
        for await event in events {
          if case .localTrackSubscribed(let publication) = event, publication.kind == .video { break }
        }
        // The server says so before the other side has agreed to it.
        try? await Task.sleep(for: .milliseconds(500))
      }
      await group.next()
      group.cancelAll()
    }
  }

  /// How long those who are there may take to subscribe.
  private static let notice = Duration.milliseconds(1500)

  /// - Returns: nil where a signal came before.
  private func publish(until interruption: Interruption, for duration: Duration?) async throws -> Published? {
    try await withThrowingTaskGroup(of: Published?.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        await interruption.wait(atMost: nil)
        return nil
      }
      group.addTask { try await publishAll(for: duration) }
      return try await group.next() ?? nil
    }
  }

  private func publishAll(for duration: Duration?) async throws -> Published {
    var all: Published = []
    // Those that somebody has to call come last, so that the others need not wait for that.
    let order = sources.indices.sorted { !sources[$0].word.isListener && sources[$1].word.isListener }
    for index in order { all += try await publish(sources[index], for: duration).map { (index, $0) } }
    return all
  }

  private func publish(_ source: Source, for duration: Duration?) async throws -> [LocalTrackPublication] {
    do {
      tellWhoIsWaitedFor(source.word, asksPerson: source.media.asksPerson)
      let kinds = try await source.media.kinds(within: source.word.isListener ? duration ?? Self.day : Self.patience)
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
  private static let day = Duration.seconds(86_400)
}
