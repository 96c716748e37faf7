import MediaBridge
import MediaCore
import MediaPipelines

/// What is known of a track of video that may be seen in a composite, as far as its place depends on it.
struct TileTrack: Hashable, Sendable {
  var sid: String
  var source: Track.Source
  var isMuted = false
  /// Whether frames were higher than wide, or square, when it was published: such a one is never cut.
  var isPortrait = false
  /// Whether a frame of it was seen in its tile.
  var hasShown = false
  var speaker = Speaker()

  /// Who sends it.
  struct Speaker: Hashable, Sendable {
    var identity = ""
    /// Seconds since 1970, of which the server tells whole ones.
    var joinedAt: Int64 = 0
    var isSpeaking = false
    /// From 0 to 1.
    var audioLevel = 0.0
    /// When they began to speak last; nil for those who never have.
    var lastSpokeAt: MediaTime?
  }

  var identity: String { speaker.identity }

  /// A screen share is read, so nothing of it may be missing.
  var fit: TilePlace.Fit { source == .camera && !isPortrait ? .cover : .contain }
}

extension TileTrack {
  /// In the order in which they are worth seeing (`sortTrackBundles` of LiveKit's components): screen shares, cameras,
  /// and the rest as they come.
  static func sorted(_ tracks: [TileTrack]) -> [TileTrack] {
    let ranked = tracks.enumerated().sorted { first, second in
      let (one, other) = (first.element, second.element)
      if one.rank != other.rank { return one.rank < other.rank }
      return one.goes(before: other) ?? (first.offset < second.offset)
    }
    return ranked.map(\.element)
  }

  private var rank: Int {
    switch source {
    case .screenShareVideo: 0
    case .camera: 1
    default: 2
    }
  }

  /// Nil where neither goes before the other.
  private func goes(before other: TileTrack) -> Bool? {
    if source == .camera, let answer = speaksBefore(other) { return answer }
    // The rest stays as it comes.
    guard rank < 2, speaker.joinedAt != other.speaker.joinedAt else { return nil }
    return speaker.joinedAt < other.speaker.joinedAt
  }

  private func speaksBefore(_ other: TileTrack) -> Bool? {
    let (mine, theirs) = (speaker, other.speaker)
    if mine.isSpeaking, theirs.isSpeaking, mine.audioLevel != theirs.audioLevel {
      return mine.audioLevel > theirs.audioLevel
    }
    if mine.isSpeaking != theirs.isSpeaking { return mine.isSpeaking }
    if mine.lastSpokeAt != theirs.lastSpokeAt {
      return (mine.lastSpokeAt?.nanoseconds ?? .min) > (theirs.lastSpokeAt?.nanoseconds ?? .min)
    }
    return isMuted == other.isMuted ? nil : !isMuted
  }
}
