import MediaBridge
import MediaCore
import MediaPipelines

/// The tiles and voices of a composite, and what those have lost that are gone.
struct SceneInputs {
  var tiles: [CompositeTile] = []
  var voices: [CompositeVoice] = []
  /// Of who is gone, with what is still to be mixed of them.
  private var leaving: [Leaving] = []
  /// Those that are seen until a change of the mix.
  private var leavingTiles: [CompositeTile] = []
  private var lostBefore = MixLosses()
  /// Of those that were taken out.
  var stopping = StoppingInputs()

  /// Of all that are and were here.
  var losses: MixLosses { lostBefore + ownLosses }
  private var ownLosses: MixLosses {
    let heard = voices + leaving.map(\.voice)
    let seen = tiles + leavingTiles
    return (seen.map(MixLosses.init) + heard.map(MixLosses.init)).reduce(MixLosses(), +)
  }

  private struct Leaving {
    let voice: CompositeVoice
    /// When all of it is mixed.
    let end: MediaTime
  }

  /// It is there no more.
  mutating func removeTile(_ sid: String) {
    for tile in tiles where tile.sid == sid { remove(tile) }
    tiles.removeAll { $0.sid == sid }
  }

  /// They get nothing any more.
  /// - Returns: the changes until which they are seen.
  mutating func leaveTiles(where isLeaving: (CompositeTile) -> Bool) -> [MixTile.Change] {
    let gone = tiles.filter(isLeaving)
    tiles.removeAll { tile in gone.contains { $0 === tile } }
    leavingTiles += gone
    return gone.map { $0.leave() }
  }

  /// The others get nothing any more; what they have got is heard until `end`.
  mutating func keepVoices(until end: MediaTime, where isKept: (CompositeVoice) -> Bool) {
    for voice in voices where !isKept(voice) {
      voice.leave()
      leaving.append(Leaving(voice: voice, end: end))
    }
    voices.removeAll { !isKept($0) }
  }

  /// Takes out those that are seen and heard to their end, or have failed on the way there.
  mutating func takeLeft(at now: MediaTime) {
    let unseen = leavingTiles.filter { $0.hasLeft || $0.failure != nil }
    for gone in unseen { remove(gone) }
    leavingTiles.removeAll { tile in unseen.contains { $0 === tile } }
    let left = leaving.filter { $0.end <= now || $0.voice.failure != nil }
    for gone in left { remove(gone.voice) }
    leaving.removeAll { gone in left.contains { $0.voice === gone.voice } }
  }

  /// Those that have failed are there no more.
  mutating func takeFailedTiles() -> [(CompositeTile, LiveKitError)] {
    let failed = tiles.compactMap { tile in tile.failure.map { (tile, $0) } }
    for (tile, _) in failed { remove(tile) }
    tiles.removeAll { tile in failed.contains { $0.0 === tile } }
    return failed
  }

  /// Those that have failed are there no more.
  mutating func takeFailedVoices() -> [(CompositeVoice, LiveKitError)] {
    let failed = voices.compactMap { voice in voice.failure.map { (voice, $0) } }
    for (voice, _) in failed { remove(voice) }
    voices.removeAll { voice in failed.contains { $0.0 === voice } }
    return failed
  }

  private mutating func remove(_ tile: CompositeTile) {
    if !tile.remove() { stopping.add(.video, since: .now) { tile.hasStopped } }
    lostBefore = lostBefore + MixLosses(tile)
  }

  private mutating func remove(_ voice: CompositeVoice) {
    if !voice.remove() { stopping.add(.audio, since: .now) { voice.hasStopped } }
    lostBefore = lostBefore + MixLosses(voice)
  }

  /// - Parameter notMixed: frames that the mixer of theirs has left out.
  /// - Returns: those of a kind, which are here no more; what they have lost is.
  mutating func take(_ kind: Track.Kind, notMixed: Int) -> SceneInputs {
    var taken = SceneInputs()
    taken.lostBefore = lostBefore
    if kind == .video {
      swap(&taken.tiles, &tiles)
      swap(&taken.leavingTiles, &leavingTiles)
    } else {
      swap(&taken.voices, &voices)
      swap(&taken.leaving, &leaving)
    }
    lostBefore = lostBefore + taken.ownLosses
    if kind == .video { lostBefore.framesNotMixed += notMixed }
    return taken
  }

  /// Those that were taken are here again. What others of their kind have lost meanwhile nobody has seen or heard.
  mutating func give(_ kind: Track.Kind, _ taken: SceneInputs) {
    tiles += taken.tiles
    leavingTiles += taken.leavingTiles
    voices += taken.voices
    leaving += taken.leaving
    lostBefore = lostBefore.with(kind, of: taken.lostBefore)
  }

  /// None is left when it returns, but for those that are `stopping`.
  mutating func clear() {
    for tile in tiles + leavingTiles { remove(tile) }
    for voice in voices + leaving.map(\.voice) { remove(voice) }
    (tiles, leavingTiles, voices, leaving) = ([], [], [], [])
  }
}

extension MixLosses {
  fileprivate init(_ tile: CompositeTile) {
    self.init()
    (framesDropped, framesAhead) = (tile.dropped, tile.ahead)
  }

  fileprivate init(_ voice: CompositeVoice) {
    self.init()
    (audioDropped, audioLate) = (voice.losses.dropped, voice.losses.late)
  }
}
