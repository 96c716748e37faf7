/// Says when nothing comes any more of a live source, or of one of its tracks while others go on. Pure.
package struct SilenceWatch: Sendable {
  /// What is seen of one track.
  package struct Track: Sendable {
    let source: Int
    let count: Int
    let isAwaited: Bool

    /// - Parameters:
    ///   - source: the number of its source.
    ///   - count: how much has come of it.
    ///   - isAwaited: whether something is to come of it.
    package init(source: Int, count: Int, isAwaited: Bool) {
      (self.source, self.count, self.isAwaited) = (source, count, isAwaited)
    }
  }

  package enum News: Sendable, Equatable {
    /// Nothing comes of any track of the source of that number; told again and again.
    case source(Int)
    /// Nothing comes of the track at that place while others of its source go on, or something comes again.
    case track(Int, isSilent: Bool)
  }

  /// What is known of one track.
  private struct Seen {
    var count = 0
    /// For how many seconds in a row others of its source went on without it.
    var lag = 0
    var isSilent = false
  }

  /// In seconds. Of a source as long as the timeout of a live stream mostly is. Audio of a camera is heard before its
  /// first keyframe, and those may be far apart.
  private static let patience = (source: 5, track: 10)

  private var seen: [Seen] = []
  /// For how many seconds nothing has come of a source, by its number.
  private var quiet: [Int: Int] = [:]

  /// Nothing was seen yet.
  package init() {}

  /// - Parameter tracks: all that there are, new ones behind the others; to be called once a second.
  package mutating func look(_ tracks: [Track]) -> [News] {
    while seen.count < tracks.count { seen.append(Seen()) }
    let flows = tracks.indices.map { tracks[$0].count != seen[$0].count }
    let alive = Set(zip(tracks, flows).filter(\.1).map(\.0.source))
    var news: [News] = []
    for (place, track) in tracks.enumerated() {
      let isAlive = alive.contains(track.source)
      if let said = look(at: place, track, flows: flows[place], isAlive: isAlive) { news.append(said) }
    }
    let silent = Set(tracks.filter(\.isAwaited).map(\.source)).subtracting(alive)
    quiet = Dictionary(uniqueKeysWithValues: silent.map { ($0, (quiet[$0] ?? 0) % Self.patience.source + 1) })
    for source in silent.sorted() where quiet[source] == Self.patience.source { news.append(.source(source)) }
    return news
  }

  private mutating func look(at place: Int, _ track: Track, flows: Bool, isAlive: Bool) -> News? {
    seen[place].count = track.count
    // Where the whole source is away nothing is said of its tracks.
    let isBehind = track.isAwaited && !flows && isAlive
    seen[place].lag = isBehind ? seen[place].lag + 1 : 0
    let isSilent = !flows && (seen[place].isSilent || seen[place].lag >= Self.patience.track)
    guard isSilent != seen[place].isSilent else { return nil }
    seen[place].isSilent = isSilent
    return .track(place, isSilent: isSilent)
  }
}
