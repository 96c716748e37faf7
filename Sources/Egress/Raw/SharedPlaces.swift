/// Places for frames in a memory that several readers share, and who still reads which. Each reader may hold so many, so that
/// one that gives none back takes none from the others. Pure.
package struct SharedPlaces: Sendable {
  package static let mostReaders = 8
  /// Held by one reader: a sink keeps the frame that it shows, and another one is on its way to it.
  private static let share = 3...8
  private let share: Int
  private var holders: [Set<Int>]

  /// - Parameters:
  ///   - size: bytes of a frame.
  ///   - limit: bytes of all of them, as far as that can be had.
  package init(size: Int, limit: Int) {
    let fitting = (limit / max(size, 1) - 1) / Self.mostReaders
    share = min(max(fitting, Self.share.lowerBound), Self.share.upperBound)
    holders = Array(repeating: [], count: share * Self.mostReaders + 1)
  }

  package var count: Int { holders.count }
  /// The first that nobody reads, so that no more memory is touched than is needed.
  package var free: Int? { holders.firstIndex(where: \.isEmpty) }

  /// Whether a reader may get another frame.
  package func hasRoom(for reader: Int) -> Bool { holders.count { $0.contains(reader) } < share }

  package mutating func give(_ place: Int, to reader: Int) { holders[place].insert(reader) }

  /// - Returns: whether it held that.
  package mutating func takeBack(_ place: Int, from reader: Int) -> Bool {
    holders.indices.contains(place) && holders[place].remove(reader) != nil
  }

  /// It has gone.
  package mutating func remove(_ reader: Int) {
    for place in holders.indices { holders[place].remove(reader) }
  }
}
