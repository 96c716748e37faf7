import Foundation
import MediaBridge
import MediaCore

/// Publishes sources until they end, and begins again with those that went away.
struct Publisher {
  let room: Room
  let sources: [(word: PublishSource, media: MediaSource)]
  let process: PublishProcess
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

  private typealias Published = [(index: Int, publication: LocalTrackPublication)]

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

  private func publish(
    _ source: (word: PublishSource, media: MediaSource), for duration: Duration?
  ) async throws -> [LocalTrackPublication] {
    do {
      tellWhoIsWaitedFor(source.word, asksPerson: source.media.asksPerson)
      let kinds = try await source.media.kinds(within: source.word.isListener ? duration ?? Self.day : Self.patience)
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
    console.say("\(source.word): \(what) (Ctrl-C ends)")
    console.event("waiting", ["source": source.word])
  }

  private func tell(_ published: [LocalTrackPublication]) {
    let names = published.map { publication in
      let size = publication.dimensions.map { " \($0)" } ?? ""
      let layers = publication.layers.count > 1 ? " in \(publication.layers.count) layers" : ""
      return "\(publication.source) \(name(publication))\(size)\(layers) (\(publication.way))"
    }
    let processed = process.names.isEmpty ? "" : ", processed by \(process.names.joined(separator: ", "))"
    console.say("Publishing \(names.joined(separator: ", "))\(processed) (Ctrl-C ends)")
    console.event(
      "publishing",
      [
        "tracks": published.map { publication in
          let said: [String: Any] = [
            "source": publication.source.description, "codec": codec(of: publication),
            "size": publication.dimensions?.description ?? "", "layers": publication.layers.count,
          ]
          return said.merging(sent(publication)) { $1 }
        }, "process": process.names,
      ])
  }

  private func sent(_ publication: LocalTrackPublication) -> [String: Any] {
    guard case .encoded(let reason) = publication.way else { return ["sid": publication.sid, "sent": "as it is"] }
    var said: [String: Any] = ["sid": publication.sid, "sent": "encoded"]
    said["reason"] = reason
    return said
  }

  private func codec(of publication: LocalTrackPublication) -> String {
    publication.kind == .audio ? "Opus" : publication.codec?.uppercased() ?? ""
  }

  /// What processing or encoding was too slow for is missing in what was sent.
  private func tellSlowness(_ published: [LocalTrackPublication]) {
    let notProcessed = published.reduce(0) { $0 + (($1.track as? LocalVideoTrack)?.framesNotProcessed ?? 0) }
    if notProcessed > 0 {
      console.say("--process was too slow for \(notProcessed) frames, which were not sent")
      console.event("not_processed", ["frames": notProcessed])
    }
    // Of each layer the same frames may be missing.
    let videos = published.filter { $0.kind == .video }
    let notEncoded = videos.reduce(0) { $0 + ($1.sentLayers.map(\.leftOut).max() ?? 0) }
    if notEncoded > 0 {
      console.say("This machine was too slow to encode \(notEncoded) frames, which were not sent")
      console.event("not_encoded", ["frames": notEncoded])
    }
  }

  private func name(_ publication: LocalTrackPublication) -> String {
    publication.codec.flatMap(VideoCodec.init(rawValue:))?.spoken ?? codec(of: publication)
  }

  // MARK: While it runs

  /// Returns once no source has anything left.
  private func follow(
    _ news: AsyncStream<(News, ContinuousClock.Instant)>,
    _ published: [(index: Int, publication: LocalTrackPublication)]
  ) async -> Result<Void, LiveKitError> {
    var running = Set(sources.indices)
    var begun: [Int: ContinuousClock.Instant] = [:]
    do throws(LiveKitError) {
      for await (piece, time) in news {
        guard let (index, error) = try end(in: piece, published), running.contains(index) else { continue }
        // What went wrong each track is told, and while a source is away that nothing comes of it.
        if let begun = begun[index], time <= begun { continue }
        if try await goesOn(sources[index], after: error) {
          begun[index] = .now
          continue
        }
        running.remove(index)
        // What was at its end stays to be seen; what was taken back does not.
        if let error { await takeBack(published.filter { $0.index == index }.map(\.publication), error) }
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
      // Capturing again would not help.
      if let failure = (publication.track as? LocalVideoTrack)?.processor?.failure { throw failure }
      guard let index = published.first(where: { $0.publication === publication })?.index else { return nil }
      // Of the end of a source each track is told that is not muted; what goes wrong may be in one of them.
      let first = published.first { $0.index == index && !$0.publication.isMuted }?.publication
      return error != nil || first === publication ? (index, error) : nil
    case .room(.reconnecting): console.say("The connection to the room is lost, and is being brought back")
    case .room(.reconnected): console.say("The connection to the room is back")
    case .room(.disconnected(let error?)): throw error
    case .room: break
    }
    return nil
  }

  private func takeBack(_ published: [LocalTrackPublication], _ error: LiveKitError) async {
    for publication in published {
      console.say("\(publication.source): \(error.message)")
      console.event("source_ended", ["source": publication.source.description, "message": error.message])
      // Without a connection it is not published any more.
      try? await room.localParticipant.unpublish(publication: publication)
    }
  }

  /// Whether it is to give something all the time.
  private func isLive(_ source: (word: PublishSource, media: MediaSource)) -> Bool {
    !source.media.isFile && !source.word.isPipe
  }

  /// - Returns: false at the end of a file, and where a person has taken back what they had shown.
  private func goesOn(
    _ source: (word: PublishSource, media: MediaSource), after error: LiveKitError?
  ) async throws(LiveKitError) -> Bool {
    guard !isLive(source) else {
      if error?.code == .cancelled { return false }
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

  /// How long what is there may take to give something.
  private static let patience = Duration.seconds(10)
  private static let day = Duration.seconds(86_400)
  /// As long as the timeout of a live stream mostly is.
  private static let silence = 5

  /// Shows each second how much was sent, and tells of live sources of which nothing comes.
  private func watch(
    _ published: [(index: Int, publication: LocalTrackPublication)], since begun: ContinuousClock.Instant,
    onSilence: @Sendable (Int) -> Void
  ) async -> Result<Void, LiveKitError>? {
    var quiet = sources.map { _ in (packets: 0, seconds: 0) }
    var ways = published.map(\.publication.way)
    var link = LinkWatch()
    while !Task.isCancelled {
      try? await Task.sleep(for: .seconds(1))
      guard !Task.isCancelled else { break }
      tellProgress(published.map(\.publication), since: begun)
      look(at: &link, published.map(\.publication))
      for (index, publication) in published.map(\.publication).enumerated() where publication.way != ways[index] {
        ways[index] = publication.way
        console.say("\(publication.source) \(name(publication)): from the next keyframe on \(publication.way)")
        console.event("way_changed", sent(publication))
      }
      for index in sources.indices where isLive(sources[index]) && room.connectionState == .connected {
        // What is muted sends nothing.
        if published.allSatisfy({ $0.index != index || $0.publication.isMuted }) { continue }
        let packets = published.reduce(0) { $0 + ($1.index == index ? $1.publication.sent.packets : 0) }
        quiet[index] = packets == quiet[index].packets ? (packets, quiet[index].seconds + 1) : (packets, 0)
        guard quiet[index].seconds == Self.silence else { continue }
        quiet[index].seconds = 0
        onSilence(index)
      }
    }
    return nil
  }

  private func look(at link: inout LinkWatch, _ published: [LocalTrackPublication]) {
    guard room.connectionState == .connected, let news = link.look(published.map(\.sentLayers)) else { return }
    guard news == .limited else {
      console.say("The link to the server carries all of it again")
      return console.event("link_restored")
    }
    let short = zip(published, link.counts).filter { $1.sent < $1.wanted }
    let tracks = short.map { $1.sent == 0 ? "\($0.source) waits" : "\($0.source) in \($1.sent) of \($1.wanted) layers" }
    console.say(
      "The link to the server carries too little: \(tracks.joined(separator: ", ")), and more as soon as there is room")
    console.event(
      "link_limited",
      ["tracks": short.map { ["source": $0.source.description, "layers": $1.sent, "of": $1.wanted] as [String: Any] }])
  }

  private func tellProgress(_ published: [LocalTrackPublication], since begun: ContinuousClock.Instant) {
    let sent = published.map(\.sent)
    let bytes = sent.reduce(0) { $0 + $1.bytes }
    console.live("\(Format.duration(.now - begun)), \(Format.bytes(Int64(bytes))) sent")
    console.progress(
      ["seconds": Format.seconds(.now - begun), "bytes": bytes, "packets": sent.reduce(0) { $0 + $1.packets }])
  }
}
