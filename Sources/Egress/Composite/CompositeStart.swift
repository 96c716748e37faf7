import MediaBridge
import MediaCore

/// When a composite begins, as LiveKit Egress has it: with the first frame of somebody, or where nobody publishes video half
/// a second after there is audio, and after 5 s without a frame at any rate. Pure.
struct CompositeStart: Sendable {
  /// Since when somebody is subscribed to.
  private var subscribedSince: MediaTime?

  private static let audioAlone = Duration.milliseconds(500)
  private static let noFrame = Duration.seconds(5)

  /// What is missing, for people; nil when it may begin.
  mutating func missing(
    _ publications: [RemoteTrackPublication], isSeen: Bool, isHeard: Bool, at now: MediaTime
  ) -> String? {
    missing(
      hasVideo: publications.contains { $0.kind == .video }, isEmpty: publications.isEmpty,
      isSubscribed: publications.contains(where: \.isSubscribed), isSeen: isSeen, isHeard: isHeard, at: now)
  }

  mutating func missing(
    hasVideo: Bool, isEmpty: Bool, isSubscribed: Bool, isSeen: Bool, isHeard: Bool, at now: MediaTime
  ) -> String? {
    if isSeen { return nil }
    guard isSubscribed else { return isEmpty ? "somebody to publish" : "a track" }
    let since = subscribedSince ?? now
    subscribedSince = since
    if !hasVideo, isHeard || now - since > Self.audioAlone { return nil }
    return now - since > Self.noFrame ? nil : "the first frame"
  }
}
