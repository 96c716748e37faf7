import MediaBridge
import MediaCore

// What becomes of the sources while they are published.
extension Publisher {
  enum News: Sendable {
    case room(RoomEvent)
    /// Nothing has come of a source for some time.
    case silence(of: Int)
  }

  typealias Source = (word: PublishSource, media: MediaSource)
  typealias Published = [(index: Int, publication: LocalTrackPublication)]

  /// That a source has ended, or what failed of it, and when.
  private struct End: Sendable {
    let error: LiveKitError?
    let time: ContinuousClock.Instant
  }

  /// As long as the timeout of a live stream mostly is.
  private static let silence = 5
  /// What comes back for less is not back: the time for which it is tried goes on. Longer than it takes to see that nothing
  /// comes.
  private static let steady = Duration.seconds(7)

  /// Returns once no source has anything left. One that is away holds up no other.
  func follow(
    _ news: AsyncStream<PublishNews.Piece>, _ published: Published
  ) async -> Result<Void, LiveKitError> {
    let ends = sources.map { _ in AsyncStream.makeStream(of: End.self) }
    return await withTaskGroup(of: Result<Void, LiveKitError>.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        do throws(LiveKitError) {
          for await (piece, time) in news {
            guard let (index, error) = try end(in: piece, published) else { continue }
            ends[index].continuation.yield(End(error: error, time: time))
          }
          return .success(())
        } catch { return .failure(error) }
      }
      for index in sources.indices {
        let own = published.filter { $0.index == index }.map(\.publication)
        group.addTask {
          defer { ends[index].continuation.finish() }
          return await follow(sources[index], own, ends[index].stream)
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
    _ source: Source, _ published: [LocalTrackPublication], _ ends: AsyncStream<End>
  ) async -> Result<Void, LiveKitError> {
    var begun: ContinuousClock.Instant?
    var lost = ContinuousClock.now
    do throws(LiveKitError) {
      for await end in ends {
        // What went wrong each track is told, and while a source is away that nothing comes of it.
        if let begun, end.time <= begun { continue }
        if begun.map({ .now - $0 >= Self.steady }) ?? true { lost = .now }
        let asked = ContinuousClock.now
        if try await goesOn(source, after: end.error, lost: lost) {
          // A file may be at its end again before this goes on.
          begun = isLive(source) ? .now : asked
          continue
        }
        // What was at its end stays to be seen; what was taken back does not.
        if let error = end.error { await takeBack(published, error) }
        break
      }
      return .success(())
    } catch {
      return .failure(error)
    }
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
    case .room(.localTrackUnpublished(let publication)): try takenAway(publication, published)
    case .room(.disconnected(let error?)): throw error
    case .room: break
    }
    return nil
  }

  /// By the server; what was taken back here has not failed.
  /// - Throws: where nothing of its source is left.
  private func takenAway(_ publication: LocalTrackPublication, _ published: Published) throws(LiveKitError) {
    guard let error = publication.sendFailure,
      let index = published.first(where: { $0.publication === publication })?.index
    else { return }
    let isLast = !published.contains { $0.index == index && $0.publication.sendFailure == nil }
    if isLast, let reason = failure(of: publication) { throw reason }
    tellEnd(of: publication, error)
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
  /// - Returns: false at the end of a file, and where a person has taken back what they had shown.
  private func goesOn(
    _ source: Source, after error: LiveKitError?, lost: ContinuousClock.Instant
  ) async throws(LiveKitError) -> Bool {
    guard !isLive(source) else {
      if error?.code == .cancelled { return false }
      return try await reconnect(source, error ?? LiveKitError(.noMedia, "it has ended"), lost: lost)
    }
    if let error { throw error }
    if isLooped { try await source.media.restart() }
    return isLooped
  }

  private func reconnect(
    _ source: Source, _ error: LiveKitError, lost: ContinuousClock.Instant
  ) async throws(LiveKitError) -> Bool {
    let limit = lost + reconnectFor
    guard .now < limit else {
      throw LiveKitError(
        error.code, "\(source.word.shown) comes back and goes away again: \(error.message)", fault: error.fault)
    }
    let left = Duration.seconds((limit - .now).seconds.rounded())
    console.say("\(source.word.shown): \(error.message); it is tried again for \(Format.duration(left))")
    console.event("source_lost", ["source": source.word.shown, "message": error.message])
    var (pause, last) = (Duration.milliseconds(500), error)
    while .now < limit, !Task.isCancelled {
      try? await Task.sleep(for: pause)
      guard !Task.isCancelled else { break }
      pause = min(pause * 2, .seconds(5))
      do throws(LiveKitError) {
        // Nothing is seen of a stream before its first keyframe.
        try await source.media.restart(within: .seconds(15))
        console.say("\(source.word.shown): it is back")
        console.event("source_restored", ["source": source.word.shown])
        return true
      } catch { last = source.word.redacted(error) }
    }
    throw LiveKitError(
      last.code, "\(source.word.shown) went away and did not come back: \(last.message)", fault: last.fault)
  }

  /// Shows each second how much was sent, and tells of live sources of one of whose tracks nothing comes.
  func watch(
    _ published: Published, since begun: ContinuousClock.Instant, onSilence: @Sendable (Int) -> Void
  ) async -> Result<Void, LiveKitError>? {
    var quiet = published.map { _ in (count: 0, seconds: 0) }
    var ways = published.map(\.publication.way)
    var link = LinkWatch()
    while !Task.isCancelled {
      try? await Task.sleep(for: .seconds(1))
      guard !Task.isCancelled else { break }
      tellProgress(published.map(\.publication), since: begun)
      look(at: &link, published.map(\.publication))
      for (index, publication) in published.map(\.publication).enumerated() where publication.way != ways[index] {
        ways[index] = publication.way
        tellWay(of: publication)
      }
      for (place, (index, publication)) in published.enumerated() where room.connectionState == .connected {
        let count = publication.captureCount
        // What is muted captures nothing.
        let isWatched = isLive(sources[index]) && !publication.isMuted && publication.sendFailure == nil
        let isSilent = isWatched && count == quiet[place].count
        quiet[place] = (count, isSilent ? quiet[place].seconds + 1 : 0)
        guard quiet[place].seconds == Self.silence else { continue }
        quiet[place].seconds = 0
        onSilence(index)
      }
    }
    return nil
  }
}
