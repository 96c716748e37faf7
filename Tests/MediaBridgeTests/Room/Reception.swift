import RTP

@testable import MediaBridge

extension RemoteTrackPublication {
  /// What has arrived of the track by now; nil while it is not subscribed.
  func reception() async -> RTPReceiver.Statistics? { await track?.incoming?.statistics().rtp }
}
