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
  private let state = Locked<(published: Publisher.Published, since: ContinuousClock.Instant?)>(([], nil))
  private let told: AsyncStream<Piece>.Continuation
  private let reader: Task<Void, Never>

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
  var begun: (published: Publisher.Published, since: ContinuousClock.Instant?) { state.withLock { $0 } }

  /// - Returns: what goes on with it.
  func begin(_ published: Publisher.Published) -> Publisher.Published {
    state.withLock { state in
      state.published += published
      state.since = state.since ?? .now
      return state.published
    }
  }

  func tell(_ news: Publisher.News) { told.yield((news, .now)) }

  /// Nothing more comes of the room.
  func end() { reader.cancel() }
}
