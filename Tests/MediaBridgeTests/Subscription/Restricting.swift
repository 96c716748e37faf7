import BridgeTesting
import MediaCore
import Testing

@testable import MediaBridge

extension RemoteTrackPublication {
  /// Lets the track lose everything, or nothing, until what is asked of it is that.
  func restrict(to restriction: VideoRestriction, in room: Room) async throws {
    let session = try #require(room.state.withLock { $0.session })
    let stream = try #require(subscription.stream)
    let start = MediaTime.now
    for second in 0..<60 where fallbackRestriction != restriction {
      let packets = 100 * (second + 1)
      let count = LossWindow.Count(
        delivered: restriction == .none ? packets : 0, lost: restriction == .none ? 0 : packets)
      await session.handle(
        .measured([sid: .init(media: stream.media, count: count, demand: .everything)]), at: start + .seconds(second))
    }
    #expect(fallbackRestriction == restriction)
    await session.handle(.demandChanged(sid: sid))
  }

  var fallbackRestriction: VideoRestriction { subscription.arrival.fallback.restriction }
  var isInterrupted: Bool { subscription.isInterrupted }
  var isWanted: Bool { subscription.wish.isWanted }

  /// Waits until that is what keeps the frames from being seen.
  func isOff(for reasons: Set<VideoChangeReason>) async throws {
    try await eventually("\(reasons)") { self.subscription.obstacles.reasons == reasons }
  }
}
