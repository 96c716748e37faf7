import MediaBridge
import MediaCore

/// The tiles and voices of a composite, and what those have lost that are gone.
struct SceneInputs {
  var tiles: [CompositeTile] = []
  var voices: [CompositeVoice] = []
  private var lostBefore = MixLosses()

  /// Of all that are and were here.
  var losses: MixLosses { lostBefore + ownLosses }
  private var ownLosses: MixLosses { (tiles.map(MixLosses.init) + voices.map(MixLosses.init)).reduce(MixLosses(), +) }

  mutating func keepTiles(where isKept: (CompositeTile) -> Bool) {
    for tile in tiles where !isKept(tile) { remove(tile) }
    tiles.removeAll { !isKept($0) }
  }

  mutating func keepVoices(where isKept: (CompositeVoice) -> Bool) {
    for voice in voices where !isKept(voice) { remove(voice) }
    voices.removeAll { !isKept($0) }
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
    tile.remove()
    lostBefore = lostBefore + MixLosses(tile)
  }

  private mutating func remove(_ voice: CompositeVoice) {
    voice.remove()
    lostBefore = lostBefore + MixLosses(voice)
  }

  /// - Parameter notMixed: frames that the mixer of theirs has left out.
  /// - Returns: those of a kind, which are here no more; what they have lost is.
  mutating func take(_ kind: Track.Kind, notMixed: Int) -> SceneInputs {
    var taken = SceneInputs()
    taken.lostBefore = lostBefore
    if kind == .video { swap(&taken.tiles, &tiles) } else { swap(&taken.voices, &voices) }
    lostBefore = lostBefore + taken.ownLosses
    if kind == .video { lostBefore.framesNotMixed += notMixed }
    return taken
  }

  /// Those that were taken are here again.
  mutating func give(_ taken: SceneInputs) {
    tiles += taken.tiles
    voices += taken.voices
    lostBefore = taken.lostBefore
  }

  /// None is left when it returns.
  mutating func clear() {
    keepTiles { _ in false }
    keepVoices { _ in false }
  }
}

extension MixLosses {
  fileprivate init(_ tile: CompositeTile) {
    self.init()
    framesDropped = tile.dropped
  }

  fileprivate init(_ voice: CompositeVoice) {
    self.init()
    (audioDropped, audioLate) = (voice.losses.dropped, voice.losses.late)
  }
}
