import MediaBridge
import MediaCore

/// What is published so far, and what becomes of it. All else that a room tells is let go of at once: nobody may read this
/// for hours.
final class PublishNews: Sendable {
  typealias Piece = (news: Publisher.News, time: ContinuousClock.Instant)

  /// In the order in which it came; for one reader.
  let pieces: AsyncStream<Piece>
  /// Has something once somebody receives video; for one reader.
  let views: AsyncStream<Void>
  private let state = Locked(State())
  private let told: AsyncStream<Piece>.Continuation
  private let reader: Task<Void, Never>

  private struct State {
    var published: Publisher.Published = []
    var since: ContinuousClock.Instant?
    /// Of each that is published, how it is sent, as it was told last.
    var ways: [SentWay] = []
    /// What came of tracks that are about to go on.
    var early: [Piece] = []
  }

  init(of events: AsyncStream<RoomEvent>) {
    let (pieces, told) = AsyncStream.makeStream(of: Piece.self)
    let (views, seen) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    (self.pieces, self.views, self.told) = (pieces, views, told)
    reader = Task {
      for await event in events {
        switch event {
        case .localTrackSubscribed(let publication): if publication.kind == .video { seen.yield() }
        case .localTrackEnded, .localTrackUnpublished, .localMuteChanged, .disconnected:
          told.yield((.room(event), .now))
        default: break
        }
      }
    }
  }

  /// What goes on, and since when the first of it does.
  var begun: (published: Publisher.Published, since: ContinuousClock.Instant?) {
    state.withLock { ($0.published, $0.since) }
  }

  /// - Parameter ways: how each is sent, as it was told.
  /// - Returns: what goes on with it.
  func begin(_ published: Publisher.Published, told ways: [SentWay]) -> Publisher.Published {
    state.withLock { state in
      state.published += published
      state.ways += ways
      state.since = state.since ?? .now
      for piece in state.early { told.yield(piece) }
      state.early = []
      return state.published
    }
  }

  /// - Returns: false for news of a track that does not go on yet: they come again once it does.
  func isTimely(_ piece: Piece) -> Bool {
    guard let publication = piece.news.publication else { return true }
    return state.withLock { state in
      if state.published.contains(where: { $0.publication === publication }) { return true }
      if case .room(.localTrackUnpublished) = piece.news, publication.sendFailure == nil {
        // Taken back here before it went on, it never will.
        state.early.removeAll { $0.news.publication === publication }
      } else {
        state.early.append(piece)
      }
      return false
    }
  }

  /// Those that are sent in another way than was told last; it counts as told.
  func takeChangedWays() -> [LocalTrackPublication] {
    state.withLock { state in
      state.published.indices.compactMap { index in
        let publication = state.published[index].publication
        let way = publication.way
        guard way != state.ways[index] else { return nil }
        state.ways[index] = way
        return publication
      }
    }
  }

  func tell(_ news: Publisher.News) { told.yield((news, .now)) }

  /// Nothing more comes of the room.
  func end() { reader.cancel() }
}
