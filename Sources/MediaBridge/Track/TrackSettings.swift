/// What a subscriber asks of the server for one track (LiveKit's UpdateTrackSettings).
struct TrackSettings: Hashable, Sendable {
  var isEnabled = true
  var quality = VideoQuality.high
  /// The size in which pictures are wanted; goes before `quality`.
  var dimensions: Dimensions?
  /// Pictures a second; 0 leaves them as they are sent.
  var fps: UInt = 0
}

extension RemoteTrackPublication {
  /// Whether the server sends the track while it is subscribed; as it was told.
  public var isEnabled: Bool { subscription.withLock { $0.toldSettings.isEnabled } }
  /// The layer that the server was asked for; without effect while `preferredDimensions` is set.
  public var videoQuality: VideoQuality { subscription.withLock { $0.toldSettings.quality } }
  /// The size that the server was asked for; nil when it was asked for a quality.
  public var preferredDimensions: Dimensions? { subscription.withLock { $0.toldSettings.dimensions } }
  /// Pictures a second that the server was asked for; 0 when it was not asked.
  public var preferredFPS: UInt { subscription.withLock { $0.toldSettings.fps } }

  /// Stops (or resumes) the media of a subscribed track; the subscription stays.
  /// - Throws: `invalidState` when the track is not subscribed or there is no connection.
  public func set(enabled: Bool) async throws { try await change { $0.isEnabled = enabled } }

  /// Asks for a layer of a simulcast track.
  /// - Throws: `invalidState` when the track is not subscribed or there is no connection.
  public func set(videoQuality: VideoQuality) async throws {
    try await change { settings in
      settings.quality = videoQuality
      settings.dimensions = nil
    }
  }

  /// Asks for the layer that comes closest to a size.
  /// - Throws: `invalidState` when the track is not subscribed or there is no connection; `invalidParameter` for an
  ///   empty size.
  public func set(preferredDimensions: Dimensions) async throws {
    guard preferredDimensions.width > 0, preferredDimensions.height > 0 else {
      throw LiveKitError(.invalidParameter, "a size of \(preferredDimensions) has no pixels; give one with some")
    }
    try await change { $0.dimensions = preferredDimensions }
  }

  /// Asks for at most so many pictures a second; 0 leaves them as they are sent.
  /// - Throws: `invalidState` when the track is not subscribed or there is no connection.
  public func set(preferredFPS: UInt) async throws { try await change { $0.fps = preferredFPS } }

  private func change(_ edit: (inout TrackSettings) -> Void) async throws {
    try subscription.withLock { subscription in
      guard subscription.track != nil else {
        throw LiveKitError(.invalidState, "track \(sid) is not subscribed; subscribe before its settings are changed")
      }
      edit(&subscription.settings)
    }
    do { try await requests.tellSettings(of: self) } catch {
      subscription.withLock { $0.settings = $0.toldSettings }
      throw error
    }
  }
}
