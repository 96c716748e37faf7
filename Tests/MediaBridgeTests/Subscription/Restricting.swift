import BridgeTesting
import MediaCore
import Testing

@testable import MediaBridge

extension RemoteTrackPublication {
  /// Lets the track lose everything, or nothing, until what is asked of it is that.
  func restrict(to restriction: VideoRestriction, in room: Room) async throws {
    let engine = try #require(room.state.withLock { $0.engine })
    let start = MediaTime.now
    let isNews = subscription.withLock { subscription in
      (0..<60).contains { second in
        subscription.fallback.poll(
          .init(loss: restriction == .none ? 0 : 1, hasLowerLayer: false, isLinkWell: true),
          at: start + .seconds(second))
      }
    }
    #expect(isNews && fallbackRestriction == restriction)
    await engine.noteSettings(of: sid)
  }

  /// Waits until that is what keeps the pictures from being seen.
  func isOff(for reasons: Set<VideoChangeReason>) async throws {
    try await eventually("\(reasons)") { self.subscription.withLock { $0.obstacles.reasons } == reasons }
  }
}
