import MediaPipelines

/// Where a track is in a composite.
struct PlacedTrack: Equatable, Sendable {
  let sid: String
  let place: TilePlace
  /// Whether no frame of it has come yet: the server is asked for it in that size, and it is not seen before.
  var isAwaited = false
}
