import MediaBridge
import MediaCore

/// How long a source is left alone before it is tried again: ever longer.
struct SourcePause {
  private var length = Duration.milliseconds(500)

  /// Returns once it is over, or its task is cancelled.
  mutating func pass() async {
    let now = length
    length = min(now * 2, .seconds(5))
    try? await Task.sleep(for: now)
  }
}

// What becomes of the sources while they are published.
extension Publisher {
  enum News: Sendable {
    case room(RoomEvent)
    /// Nothing has come of a source for some time.
    case silence(of: Int)

    /// The track that it is of.
    var publication: LocalTrackPublication? {
      switch self {
      case .room(.localTrackEnded(let publication, _)), .room(.localTrackUnpublished(let publication)),
        .room(.localMuteChanged(let publication, isMuted: _)):
        publication
      case .room, .silence: nil
      }
    }
  }

  typealias Source = (word: PublishSource, media: MediaSource)
  typealias Published = [(index: Int, publication: LocalTrackPublication)]

  /// That a source has ended, or what failed of it, and when.
  private struct End: Sendable {
    let error: LiveKitError?
    let time: ContinuousClock.Instant
  }

  /// What comes back for less is not back: the time for which it is tried goes on. Longer than it takes to see that
  /// nothing comes.
  static let steady = Duration.seconds(7)

  /// Returns once no source has anything left, nor waits for its caller. One that is away holds up no other.
  func follow(_ news: PublishNews) async -> Result<Void, LiveKitError> {
    let ends = sources.map { _ in AsyncStream.makeStream(of: End.self) }
    return await withTaskGroup(of: Result<Void, LiveKitError>.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        do throws(LiveKitError) {
          for await (piece, time) in news.pieces where news.isTimely((piece, time)) {
            let published = news.begun.published
            if case .room(.localTrackUnpublished(let publication)) = piece {
              if let index = try takenAway(publication, published) { ends[index].continuation.finish() }
            } else if let (index, error) = try end(in: piece, published) {
              ends[index].continuation.yield(End(error: error, time: time))
            }
          }
          return .success(())
        } catch { return .failure(error) }
      }
      for index in sources.indices {
        group.addTask {
          defer { ends[index].continuation.finish() }
          return await follow(index, news, ends[index].stream)
        }
      }
      // Whoever sorts the news does so for as long as there is one that they are for.
      for _ in sources.indices {
        if let result = await group.next(), case .failure = result { return result }
      }
      return .success(())
    }
  }

  /// Returns once it has nothing left.
  private func follow(
    _ index: Int, _ news: PublishNews, _ ends: AsyncStream<End>
  ) async -> Result<Void, LiveKitError> {
    var begun: ContinuousClock.Instant?
    var lost = ContinuousClock.now
    do throws(LiveKitError) {
      for await end in ends {
        // What went wrong each track is told, and while a source is away that nothing comes of it.
        if let begun, end.time <= begun { continue }
        if begun.map({ .now - $0 >= Self.steady }) ?? true { lost = .now }
        let asked = ContinuousClock.now
        if try await goesOn(index, after: end.error, lost: lost, news) {
          // A file may be at its end again before this goes on.
          begun = isLive(sources[index]) ? .now : asked
          continue
        }
        // What was at its end stays to be seen; what was taken back does not.
        if let error = end.error { await takeBack(tracks(of: index, news), error) }
        break
      }
      return .success(())
    } catch {
      guard error.isRefusedByPerson else { return .failure(error) }
      await takeBack(tracks(of: index, news), error)
      return .success(())
    }
  }

  /// What of a source is still in the room.
  private func tracks(of index: Int, _ news: PublishNews) -> [LocalTrackPublication] {
    news.begun.published.filter { $0.index == index && $0.publication.sendFailure == nil }.map(\.publication)
  }

  /// - Returns: which source has ended, and why; nil for other news.
  /// - Throws: why nothing can be published any more.
  private func end(in piece: News, _ published: Published) throws(LiveKitError) -> (index: Int, error: LiveKitError?)? {
    switch piece {
    case .silence(let index): return (index, LiveKitError(.noMedia, "nothing comes of it any more", fault: .publisher))
    case .room(.localTrackEnded(let publication, let error)):
      // Capturing again would not help.
      if let reason = failure(of: publication) { throw reason }
      if let failure = (publication.track as? LocalVideoTrack)?.processor?.failure { throw failure }
      guard let index = published.first(where: { $0.publication === publication })?.index else { return nil }
      // Of the end of a source each track is told that captures; what goes wrong may be in one of them.
      let own = published.filter { $0.index == index && $0.publication.sendFailure == nil }.map(\.publication)
      let first = own.first { !$0.isMuted } ?? own.first
      return error != nil || first === publication ? (index, error.map(sources[index].word.redacted)) : nil
    case .room(.localMuteChanged(let publication, let isMuted)): tellMuting(of: publication, isMuted: isMuted)
    case .room(.disconnected(let error?)): throw error
    case .room: break
    }
    return nil
  }

  /// By the server; what was taken back here has not failed.
  /// - Returns: its source, where nothing is left of that.
  /// - Throws: where nothing is left of any.
  private func takenAway(_ publication: LocalTrackPublication, _ published: Published) throws(LiveKitError) -> Int? {
    guard let error = publication.sendFailure,
      let index = published.first(where: { $0.publication === publication })?.index
    else { return nil }
    let left = Set(published.filter { $0.publication.sendFailure == nil }.map(\.index))
    // One that waits for its caller may be published yet.
    let isAwaited = Set(published.map(\.index)).count < sources.count
    if left.isEmpty, !isAwaited, let reason = failure(of: publication) { throw reason }
    tellEnd(of: publication, error)
    return left.contains(index) ? nil : index
  }

  private func takeBack(_ published: [LocalTrackPublication], _ error: LiveKitError) async {
    for publication in published {
      tellEnd(of: publication, error)
      // Without a connection it is not published any more.
      try? await room.localParticipant.unpublish(publication: publication)
    }
  }

  /// Whether it is to give something all the time.
  private func isLive(_ source: Source) -> Bool { !source.media.isFile && !source.word.isPipe }

  /// - Parameter lost: since when it is tried again.
  /// - Returns: false at the end of a file, and where what was shown has been taken back, by a person or by the server.
  private func goesOn(
    _ index: Int, after error: LiveKitError?, lost: ContinuousClock.Instant, _ news: PublishNews
  ) async throws(LiveKitError) -> Bool {
    let source = sources[index]
    guard !isLive(source) else {
      if error?.code == .cancelled { return false }
      return try await reconnect(index, error ?? LiveKitError(.noMedia, "it has ended"), lost: lost, news)
    }
    if let error { throw error }
    if isLooped { try await source.media.restart() }
    return isLooped
  }

  private func reconnect(
    _ index: Int, _ error: LiveKitError, lost: ContinuousClock.Instant, _ news: PublishNews
  ) async throws(LiveKitError) -> Bool {
    let (source, limit) = (sources[index], lost + reconnectFor)
    guard .now < limit else {
      throw LiveKitError(
        error.code, "\(source.word.shown) comes back and goes away again: \(error.message)", fault: error.fault)
    }
    let left = Duration.seconds((limit - .now).seconds.rounded())
    tellLoss(of: source.word, error, "it is tried again for \(Format.duration(left))")
    var (pause, last) = (SourcePause(), error)
    while .now < limit, !Task.isCancelled {
      await pause.pass()
      guard !Task.isCancelled else { break }
      guard !tracks(of: index, news).isEmpty else { return false }
      do throws(LiveKitError) {
        // Nothing is seen of a stream before its first keyframe.
        try await source.media.restart(within: .seconds(15))
        console.say("\(source.word.shown): it is back")
        console.event("source_restored", ["source": source.word.shown])
        return true
      } catch {
        guard !error.isRefusedByPerson else { throw error }
        last = source.word.redacted(error)
      }
    }
    throw LiveKitError(
      last.code, "\(source.word.shown) went away and did not come back: \(last.message)", fault: last.fault)
  }

  /// Shows each second how much was sent, and tells of live sources of which nothing comes, and of their tracks.
  func watch(_ news: PublishNews) async {
    var (link, silence) = (LinkWatch(), SilenceWatch())
    let start = ContinuousClock.now
    while !Task.isCancelled {
      try? await Task.sleep(for: .seconds(1))
      guard !Task.isCancelled else { return }
      let (published, since) = news.begun
      let awaited = listeners.filter { index in !published.contains { $0.index == index } }
      guard let begun = since else {
        tellWait(for: awaited, since: start)
        continue
      }
      let publications = published.map(\.publication)
      tellProgress(publications, since: begun, awaiting: awaited)
      look(at: &link, publications)
      for publication in news.takeChangedWays() { tellWay(of: publication) }
      look(at: &silence, published, news)
    }
  }

  private func look(at silence: inout SilenceWatch, _ published: Published, _ news: PublishNews) {
    guard room.connectionState == .connected else { return }
    let tracks = published.map { index, publication in
      // What is muted captures nothing where it is a device.
      let isAwaited = isLive(sources[index]) && !publication.isMuted && publication.sendFailure == nil
      return SilenceWatch.Track(source: index, count: publication.captureCount, isAwaited: isAwaited)
    }
    for said in silence.look(tracks) {
      switch said {
      case .source(let index): news.tell(.silence(of: index))
      case .track(let place, let isSilent):
        let (index, publication) = published[place]
        tellSilence(of: publication, sources[index].word, isSilent: isSilent)
      }
    }
  }
}
