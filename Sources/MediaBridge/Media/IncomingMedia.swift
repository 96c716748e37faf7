package import GStreamerKit
package import MediaPipelines

/// What arrives of a subscribed track, for those who carry it on.
package struct IncomingMedia: Sendable {
  fileprivate let media: TrackMedia

  /// How the track has come so far.
  package struct Reception: Sendable {
    /// Whether something has come that can be shown or heard: of a video at least a keyframe.
    package var isFlowing: Bool
    /// RTP packets with media, retransmissions that filled a gap among them.
    package var packetsReceived: Int
    /// RTP packets that never came, in no way.
    package var packetsLost: Int
  }

  /// As descriptions spell it, in small letters.
  package var codec: String { media.codec }
  /// Video, and not audio.
  package var isVideo: Bool { media.isVideo }
  /// Whether frames may come turned, and turn while they come.
  package var mayTurn: Bool { media.mayTurn }
  /// Whether frames are sent in another order than they are shown, as far as its keyframes have said.
  package var hasBFrames: Bool { media.hasBFrames }
  /// Whether a frame may be several in one stream, one for each spatial layer, as far as its packets have said.
  package var hasSpatialLayers: Bool { media.hasSpatialLayers }

  /// Hands on what comes until the consumer stops: from the newest keyframe on where that was within a second, else from
  /// the next one, which is asked for.
  /// - Parameters:
  ///   - isRaw: decoded frames or PCM, and not what was sent.
  ///   - onFailure: told why nothing comes for a while, after which it is tried again; on any thread.
  ///   - onBuffer: called on a streaming thread, in order; to return at once.
  /// - Throws: why there is no pipeline for it.
  package func consume(
    isRaw: Bool, onFailure: @escaping @Sendable (LiveKitError) -> Void,
    onBuffer: @escaping @Sendable (MediaBuffer) -> Void
  ) throws(LiveKitError) -> MediaConsumer {
    try media.consume(isRaw ? .raw : .encoded, onFailure: onFailure, onBuffer: onBuffer)
  }

  /// Asks whoever sends it.
  package func requestKeyframe() { media.requestKeyframe() }

  /// Where its receive template may be, whether there is one or not.
  package var templateFiles: [String] { media.templateFiles }

  /// Has its receive template as it is now take over, for all who are handed something, once something has come of it.
  /// - Returns: its name once it has; nil where it makes the same as before, or nothing is handed on.
  /// - Throws: what is wrong with it; the one before goes on.
  package func renewTemplate() async throws(LiveKitError) -> TemplateName? { try await media.renewTemplate() }

  /// Calls `handler` once something has come that can be shown or heard; once, on a media thread.
  package func onFlow(_ handler: @escaping @Sendable () -> Void) { media.onFlow(handler) }

  /// How it has come so far; after its end, all in all.
  package func reception() async -> Reception {
    let statistics = await media.statistics()
    let rtp = statistics.rtp
    return Reception(
      isFlowing: statistics.isFlowing, packetsReceived: rtp.packetsReceived,
      packetsLost: max(0, rtp.packetsLost - rtp.packetsRecovered))
  }
}

extension IncomingMedia: Equatable {
  /// Whether it is the same subscription.
  package static func == (one: IncomingMedia, other: IncomingMedia) -> Bool { one.media === other.media }
}

extension RemoteTrackPublication {
  /// What arrives of it, while it is subscribed.
  package var media: IncomingMedia? { track?.incoming.map(IncomingMedia.init) }
}
