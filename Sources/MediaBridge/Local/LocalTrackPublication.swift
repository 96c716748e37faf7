import LiveKitProtocol
import MediaCore

/// A track that this process publishes.
///
/// `@unchecked Sendable`: adds only constants and `Locked` values.
public final class LocalTrackPublication: TrackPublication, @unchecked Sendable {
  let captured: any CapturedTrack
  /// What publishes it; nil once it is unpublished.
  private let session = Locked<RoomSession?>(nil)
  /// What sends it in this session.
  let outgoing = Locked<OutgoingTrack?>(nil)

  init(info: TrackInfo, track: any CapturedTrack, session: RoomSession) {
    captured = track
    self.session.withLock { $0 = session }
    super.init(info: info)
  }

  /// The track; always there.
  public override var track: Track? { captured }
  /// Always true: who publishes has it.
  public override var isSubscribed: Bool { true }

  /// Lets go of the device; the others are told that it is muted.
  public func mute() async throws { try await captured.mute() }
  /// Captures again.
  public func unmute() async throws { try await captured.unmute() }

  /// What has been sent of it in this session: RTP packets, and bytes of their payload.
  package var sent: (packets: Int, bytes: Int) {
    let streams = outgoing.withLock { $0 }?.streams ?? []
    return streams.reduce((0, 0)) { ($0.0 + $1.statistics.packetsSent, $0.1 + $1.statistics.bytesSent) }
  }

  // MARK: For the session

  func told(muted: Bool) async throws(LiveKitError) {
    info.withLock { $0.isMuted = muted }
    try await session.withLock { $0 }?.tell(muted: muted, of: self)
  }

  func unpublished() {
    session.withLock { $0 = nil }
    outgoing.withLock { $0 = nil }
  }

  /// Hands what is captured to what sends it.
  func send(with new: OutgoingTrack) {
    outgoing.withLock { $0 = new }
    captured.media.add(self) { new.take($0) }
  }

  /// In a new session it has another SID.
  func show(_ info: TrackInfo) {
    self.info.withLock { $0 = info }
    captured.state.withLock { $0.sid = info.sid }
  }
}
