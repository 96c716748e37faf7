import Foundation
import MediaBridge
import MediaCore

/// Publishes sources until they end, and begins again with those that went away.
struct Publisher {
  let room: Room
  let sources: [(word: PublishSource, media: MediaSource)]
  let video: VideoPublishOptions
  let audio: AudioPublishOptions
  let isLooped: Bool
  let reconnectFor: Duration
  let console: Console

  private enum News: Sendable {
    case room(RoomEvent)
    /// Nothing has come of a source for some time.
    case silence(of: Int)
  }

  /// Returns at the end of the files, at a signal, or when the time is over.
  /// - Throws: why nothing can be published any more, or something was not.
  func run(_ interruption: Interruption, for duration: Duration?) async throws {
    let (events, begun) = (room.events, ContinuousClock.now)
    var all: [(index: Int, publication: LocalTrackPublication)] = []
    for (index, source) in sources.enumerated() {
      all += try await publish(source).map { (index, $0) }
    }
    let published = all
    tell(published.map(\.publication))
    // Nothing of a file is lost while its tracks are announced.
    for source in sources where source.media.isFile { try await source.media.restart() }
    let (news, told) = AsyncStream.makeStream(of: News.self)
    let ends = await withTaskGroup(of: Result<Void, LiveKitError>?.self) { group in
      group.addTask {
        await interruption.wait(atMost: duration)
        return .success(())
      }
      group.addTask {
        for await event in events { told.yield(.room(event)) }
        return nil
      }
      group.addTask { await follow(news, published) }
      group.addTask { await watch(published, since: begun) { told.yield(.silence(of: $0)) } }
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
    console.event("finished", ["seconds": Format.seconds(.now - begun)])
    try ends.get()
  }

  private func publish(_ source: (word: PublishSource, media: MediaSource)) async throws -> [LocalTrackPublication] {
    do {
      let kinds = try await source.media.kinds()
      let isScreen = source.word.isScreen
      var published: [LocalTrackPublication] = []
      if kinds.contains(.video) {
        let track = source.media.makeVideoTrack(
          name: isScreen ? Track.screenShareVideoName : Track.cameraName,
          source: isScreen ? .screenShareVideo : .camera)
        published.append(try await room.localParticipant.publish(videoTrack: track, options: video))
      }
      if kinds.contains(.audio) {
        let track = source.media.makeAudioTrack()
        published.append(try await room.localParticipant.publish(audioTrack: track, options: audio))
      }
      return published
    } catch let error as LiveKitError {
      throw LiveKitError(
        error.code, "\(source.word.word): \(error.message)", fault: error.fault, underlying: error.underlying)
    }
  }

  private func tell(_ published: [LocalTrackPublication]) {
    let names = published.map { publication in
      let size = publication.dimensions.map { " \($0)" } ?? ""
      let layers = publication.layers.count > 1 ? " in \(publication.layers.count) layers" : ""
      return "\(publication.source) \(name(publication))\(size)\(layers)"
    }
    console.say("Publishing \(names.joined(separator: ", ")) (Ctrl-C ends)")
    console.event(
      "publishing",
      [
        "tracks": published.map {
          [
            "sid": $0.sid, "source": $0.source.description, "codec": name($0), "size": $0.dimensions?.description ?? "",
            "layers": $0.layers.count,
          ] as [String: Any]
        }
      ])
  }

  private func name(_ publication: LocalTrackPublication) -> String {
    publication.kind == .audio ? "Opus" : video.preferredCodec.rawValue.uppercased()
  }

  // MARK: While it runs

  /// Returns once no source has anything left.
  private func follow(
    _ news: AsyncStream<News>, _ published: [(index: Int, publication: LocalTrackPublication)]
  ) async -> Result<Void, LiveKitError> {
    var running = Set(sources.indices)
    do throws(LiveKitError) {
      for await piece in news {
        guard let (index, error) = try end(in: piece, published), running.contains(index) else { continue }
        if try await goesOn(sources[index], after: error) { continue }
        running.remove(index)
        if running.isEmpty { break }
      }
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  /// - Returns: which source has ended, and why; nil for other news.
  /// - Throws: why nothing can be published any more.
  private func end(
    in piece: News, _ published: [(index: Int, publication: LocalTrackPublication)]
  ) throws(LiveKitError) -> (index: Int, error: LiveKitError?)? {
    switch piece {
    case .silence(let index): return (index, LiveKitError(.noMedia, "nothing comes of it any more", fault: .publisher))
    case .room(.localTrackEnded(let publication, let error)):
      // Of one source each track is told.
      return sources.indices.first { index in published.first { $0.index == index }?.publication === publication }
        .map { ($0, error) }
    case .room(.reconnecting): console.say("The connection to the room is lost, and is being brought back")
    case .room(.reconnected): console.say("The connection to the room is back")
    case .room(.disconnected(let error?)): throw error
    case .room: break
    }
    return nil
  }

  /// - Returns: false at the end of a file.
  private func goesOn(
    _ source: (word: PublishSource, media: MediaSource), after error: LiveKitError?
  ) async throws(LiveKitError) -> Bool {
    guard source.media.isFile else {
      return try await reconnect(source, error ?? LiveKitError(.noMedia, "it has ended"))
    }
    if let error { throw error }
    if isLooped { try await source.media.restart() }
    return isLooped
  }

  private func reconnect(
    _ source: (word: PublishSource, media: MediaSource), _ error: LiveKitError
  ) async throws(LiveKitError) -> Bool {
    console.say("\(source.word.word): \(error.message); it is tried again for \(Format.duration(reconnectFor))")
    console.event("source_lost", ["source": source.word.word, "message": error.message])
    let limit = ContinuousClock.now + reconnectFor
    var (pause, last) = (Duration.milliseconds(500), error)
    while .now < limit, !Task.isCancelled {
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .seconds(5))
      do throws(LiveKitError) {
        // Nothing is seen of a stream before its first keyframe.
        try await source.media.restart(within: .seconds(15))
        console.say("\(source.word.word): it is back")
        console.event("source_restored", ["source": source.word.word])
        return true
      } catch { last = error }
    }
    throw LiveKitError(
      last.code, "\(source.word.word) went away and did not come back: \(last.message)", fault: last.fault)
  }

  /// As long as the timeout of a live stream mostly is.
  private static let silence = 5

  /// Shows each second how much was sent, and tells of live sources of which nothing comes.
  private func watch(
    _ published: [(index: Int, publication: LocalTrackPublication)], since begun: ContinuousClock.Instant,
    onSilence: @Sendable (Int) -> Void
  ) async -> Result<Void, LiveKitError>? {
    var quiet = sources.map { _ in (packets: 0, seconds: 0) }
    while !Task.isCancelled {
      try? await Task.sleep(for: .seconds(1))
      guard !Task.isCancelled else { break }
      tellProgress(published.map(\.publication), since: begun)
      for index in sources.indices where !sources[index].media.isFile && room.connectionState == .connected {
        let packets = published.reduce(0) { $0 + ($1.index == index ? $1.publication.sent.packets : 0) }
        quiet[index] = packets == quiet[index].packets ? (packets, quiet[index].seconds + 1) : (packets, 0)
        guard quiet[index].seconds == Self.silence else { continue }
        quiet[index].seconds = 0
        onSilence(index)
      }
    }
    return nil
  }

  private func tellProgress(_ published: [LocalTrackPublication], since begun: ContinuousClock.Instant) {
    let sent = published.map(\.sent)
    let bytes = sent.reduce(0) { $0 + $1.bytes }
    console.live("\(Format.duration(.now - begun)), \(Format.bytes(Int64(bytes))) sent")
    console.event(
      "progress",
      ["seconds": Format.seconds(.now - begun), "bytes": bytes, "packets": sent.reduce(0) { $0 + $1.packets }])
  }
}
