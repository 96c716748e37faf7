/// What a subscriber asks of the server for one track (LiveKit's UpdateTrackSettings).
struct TrackSettings: Hashable, Sendable {
  var isEnabled = true
  var quality = VideoQuality.high
  /// The size in which frames are wanted; goes before `quality`.
  var dimensions: Dimensions?
  /// Frames a second; 0 leaves them as they are sent.
  var fps: UInt = 0
  /// What the link leaves of the others.
  var restriction = VideoRestriction.none

  /// What the server is told of it.
  var applied: TrackSettings {
    var applied = self
    switch restriction {
    case .none: break
    case .lowestLayer: (applied.quality, applied.dimensions) = (.low, nil)
    case .noVideo: applied.isEnabled = false
    }
    applied.restriction = .none
    return applied
  }

  /// Whether one of these layers is smaller than what is wanted.
  func exceedsLowest(of layers: [VideoLayer]) -> Bool {
    guard isEnabled, layers.count > 1, let lowest = layers.map(\.dimensions.height).min() else { return false }
    return dimensions.map { $0.height > lowest } ?? (quality != .low)
  }
}

extension RemoteTrackPublication {
  /// Whether the server sends the track while it is subscribed; as it was told.
  public var isEnabled: Bool { settingsInEffect.isEnabled }
  /// The layer that the server was asked for; without effect while `preferredDimensions` is set.
  public var videoQuality: VideoQuality { settingsInEffect.quality }
  /// The size that the server was asked for; nil when it was asked for a quality.
  public var preferredDimensions: Dimensions? { settingsInEffect.dimensions }
  /// Frames a second that the server was asked for; 0 when it was not asked.
  public var preferredFPS: UInt { settingsInEffect.fps }

  private var settingsInEffect: TrackSettings { (subscription.settings.told ?? TrackSettings()).applied }

  /// Stops (or resumes) the media of a subscribed track; the subscription stays.
  /// - Throws: `invalidState` when the track is not subscribed, there is no connection, or adaptive stream is on.
  public func set(enabled: Bool) async throws { try await change { $0.isEnabled = enabled } }

  /// Asks for a layer of a simulcast track.
  /// - Throws: `invalidState` when the track is not subscribed, there is no connection, or adaptive stream is on.
  public func set(videoQuality: VideoQuality) async throws {
    try await change { settings in
      settings.quality = videoQuality
      settings.dimensions = nil
    }
  }

  /// Asks for the layer that comes closest to a size.
  /// - Throws: `invalidState` when the track is not subscribed, there is no connection, or adaptive stream is on;
  ///   `invalidParameter` for an empty size.
  public func set(preferredDimensions: Dimensions) async throws {
    guard preferredDimensions.width > 0, preferredDimensions.height > 0 else {
      throw LiveKitError(.invalidParameter, "a size of \(preferredDimensions) has no pixels; give one with some")
    }
    try await change { $0.dimensions = preferredDimensions }
  }

  /// Asks for at most so many frames a second; 0 leaves them as they are sent.
  /// - Throws: `invalidState` when the track is not subscribed, there is no connection, or adaptive stream is on.
  public func set(preferredFPS: UInt) async throws { try await change { $0.fps = preferredFPS } }

  private func change(_ edit: @Sendable (inout TrackSettings) -> Void) async throws {
    guard !requests.usesAdaptiveStream else {
      throw LiveKitError(
        .invalidState,
        "adaptive stream chooses the settings of track \(sid); make the room with adaptiveStream: false to set them")
    }
    try await requests.change(self, edit)
  }
}
