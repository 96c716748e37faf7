/// Says when the link to the server carries less than is to be sent, and when all of it is sent again: not for a moment in
/// which the next layer is tried. Pure.
package struct LinkWatch: Sendable {
  /// Of the layers of one track that somebody wants.
  package struct Count: Sendable, Equatable {
    package var sent: Int
    package var wanted: Int
  }

  package enum News: Sendable, Equatable {
    /// Some layers find no room.
    case limited
    case whole
  }

  /// Looks for so long before anything is said.
  private static let patience = (limited: 3, whole: 6)

  /// Of each track as it was seen last.
  package private(set) var counts: [Count] = []
  private var isLimited = false
  /// How often in a row it was the other way.
  private var count = 0

  /// Nothing was seen yet.
  package init() {}

  /// - Parameter tracks: the layers of each track; to be called once a second.
  package mutating func look(_ tracks: [[SentLayer]]) -> News? {
    counts = tracks.map { layers in
      let wanted = layers.filter(\.isWanted)
      return Count(sent: wanted.count { $0.bitrate != nil }, wanted: wanted.count)
    }
    let isNarrow = counts.contains { $0.sent < $0.wanted }
    count = isNarrow == isLimited ? 0 : count + 1
    guard count >= (isNarrow ? Self.patience.limited : Self.patience.whole) else { return nil }
    (isLimited, count) = (isNarrow, 0)
    return isNarrow ? .limited : .whole
  }
}
