import MediaBridge
import MediaCore

// Sources that wait for whoever calls them.
extension Publisher {
  /// Those that somebody has to call.
  var listeners: [Int] { sources.indices.filter { sources[$0].word.isListener } }

  /// Publishes a source once somebody has called it.
  func listen(_ index: Int, _ news: PublishNews) async throws {
    let all = try await begin(try await takeCall(index), news)
    if Set(all.map(\.index)).count == sources.count { try process.check(hasVideo: Self.hasVideo(all)) }
  }

  /// A call of which nothing comes, or that comes while the room is away, is told, and the next one is taken.
  private func takeCall(_ index: Int) async throws -> Published {
    let word = sources[index].word
    var pause = SourcePause()
    while true {
      let (isOpen, begun) = (Locked(false), ContinuousClock.now)
      do {
        return try await publish(index) {
          isOpen.withLock { $0 = true }
          tellWhoIsWaitedFor(word)
        }
      } catch let error as LiveKitError {
        let isOver = Task.isCancelled || room.disconnectError != nil
        guard !isOver, isOpen.withLock({ $0 }), Self.passing.contains(error.code) else { throw explained(error, index) }
        if .now - begun >= Self.steady { pause = SourcePause() }
        tellLoss(of: word, word.inWords(error), "the next call is waited for")
      }
      await pause.pass()
      try Task.checkCancellation()
    }
  }

  /// What a caller, or the link to the room, is to blame for once a source is open: with the next call it may go well.
  private static let passing: Set<LiveKitError.Code> = [
    .noMedia, .pipeline, .network, .timedOut, .iceFailed, .disconnected,
  ]

  /// - Throws: where nobody has called one in the time that there was.
  func checkCalls(_ news: PublishNews) throws(LiveKitError) {
    let called = Set(news.begun.published.map(\.index))
    guard let index = listeners.first(where: { !called.contains($0) }) else { return }
    let error = LiveKitError(
      .noMedia, "nobody has called in time with what could be published, so neither video nor audio comes of it",
      fault: .publisher)
    throw sources[index].word.explained(error)
  }
}
