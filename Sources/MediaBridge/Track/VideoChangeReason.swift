/// Why the frames of a track stopped, or go on.
public enum VideoChangeReason: String, Codable, Sendable, CaseIterable {
  /// Their publisher muted or unmuted them.
  case publisherPropertyChanged
  /// They were disabled or enabled here: by `set(enabled:)`, or by adaptive stream because nobody shows them.
  case subscriberPropertyChanged
  /// The way to here is too narrow, or this machine too slow to decode them, or not any more: the server paused or
  /// resumed them, or audio fallback did here.
  case qualityChanged
  /// They come in a codec that cannot be decoded here, or the server can send them in no other.
  case codecNotSupported
}

/// What keeps a track's frames from being seen.
struct VideoObstacles: Sendable {
  private(set) var reasons: Set<VideoChangeReason> = []

  /// - Returns: whether the frames stop or go on with that.
  mutating func set(_ reason: VideoChangeReason, _ isThere: Bool) -> Bool {
    let before = reasons.isEmpty
    if isThere { reasons.insert(reason) } else { reasons.remove(reason) }
    return before != reasons.isEmpty
  }
}
