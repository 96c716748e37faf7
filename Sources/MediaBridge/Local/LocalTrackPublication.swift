import LiveKitProtocol
import MediaCore

/// A track that this process publishes.
///
/// `@unchecked Sendable`: adds only constants and `Locked` values.
public final class LocalTrackPublication: TrackPublication, @unchecked Sendable {
  let captured: any CapturedTrack
  /// What publishes it; nil once it is unpublished.
  private let session = Locked<RoomSession?>(nil)
  private let sending = Locked(Sending())
  /// Of its frames, for whatever sends them.
  private let colors = FrameColors()
  /// Why it is not sent any more as its source carries it.
  private let reason = Locked<String?>(nil)
  private let failure = Locked<LiveKitError?>(nil)

  /// What sends it in this session, and what was sent before that.
  private struct Sending {
    var first: OutgoingTrack?
    /// In its other codec, while that is sent.
    var backup: OutgoingTrack?
    var before = SentCount()
  }

  init(info: TrackInfo, track: any CapturedTrack, session: RoomSession) {
    captured = track
    self.session.withLock { $0 = session }
    super.init(info: info)
  }

  /// The track; always there.
  public override var track: Track? { captured }
  /// Always true: who publishes has it.
  public override var isSubscribed: Bool { true }

  /// Lets go of the device; the others are told that it is muted. What is no device goes on meanwhile.
  public func mute() async throws { try await captured.mute() }
  /// Captures again.
  public func unmute() async throws { try await captured.unmute() }

  /// How it is sent now, and why so.
  package var way: SentWay {
    if let reason = reason.withLock({ $0 }) { return .encoded(reason) }
    guard let outgoing else { return .encoded(nil) }
    let (plan, last) = (outgoing.plan, outgoing.comesEncoded.withLock { $0 })
    let first = if case .success(let first) = captured.media.first.current { first.isEncoded } else { false }
    let comesEncoded = last ?? first
    if plan.isAsItIs { return comesEncoded ? .asItIs : .encoded(nil) }
    return .encoded(!plan.isVideo && !comesEncoded ? nil : plan.reason)
  }

  /// Of its codec, such as `h264`.
  package var codec: String? { outgoing?.plan.codec }

  private var outgoing: OutgoingTrack? { sending.withLock { $0.first } }

  /// In its first codec, then in its other one.
  var senders: [OutgoingTrack] { sending.withLock { [$0.first, $0.backup].compactMap(\.self) } }

  /// What has been sent of it since it was published, also in earlier sessions: RTP packets, and bytes of their payload.
  package var sent: (packets: Int, bytes: Int) {
    let all = whole
    return (all.packets, all.bytes)
  }

  /// Frames that were left out since then because the machine did not encode them in time.
  package var framesNotEncoded: Int { whole.leftOut }

  private var whole: SentCount {
    let (first, backup, before) = sending.withLock { ($0.first, $0.backup, $0.before) }
    return before + SentCount(first, isFirst: true) + SentCount(backup, isFirst: false)
  }

  /// Why nothing is sent of it whatever is captured, or the server took it out of the room; nil while it is sent.
  package internal(set) var sendFailure: LiveKitError? {
    get { failure.withLock { $0 } }
    set { failure.withLock { $0 = newValue } }
  }

  /// How many frames or stretches of audio have been captured of it, whether or not anybody wants them.
  package var captureCount: Int { captured.media.count }

  /// How its layers are sent now, from the smallest on; none while nothing sends it.
  package var sentLayers: [SentLayer] { outgoing?.layers.map(\.sent) ?? [] }

  /// Sends the first of what comes as it is, ahead of the rest.
  package func showFirst() {
    guard way == .asItIs, case .success(let first) = captured.media.first.current else { return }
    _ = outgoing?.take(CapturedMedia(media: first.media, time: .now, isEncoded: true), colors)
  }

  // MARK: For the session

  /// Whether its track is muted is another than before.
  func mutingChanged() async throws(LiveKitError) { try await session.withLock { $0 }?.tellMuting(of: self) }

  /// In the order of the session's work, so that what is newest stays.
  func showMuting() {
    let isMuted = captured.isMuted
    info.withLock { $0.isMuted = isMuted }
  }

  func unpublished() {
    session.withLock { $0 = nil }
    send(withBackup: nil)
    replace(\.first, by: nil)
  }

  /// What it has sent counts on.
  private func replace(_ sender: WritableKeyPath<Sending, OutgoingTrack?>, by new: OutgoingTrack?) {
    let old = sending.withLock { $0[keyPath: sender] }
    // Nothing new comes to it, and its count is final then.
    if let old { captured.media.remove(old) }
    let sent = SentCount(old, isFirst: sender == \.first)
    // It ends outside of the lock.
    withExtendedLifetime(old) {
      sending.withLock { sending in
        sending[keyPath: sender] = new
        sending.before = sending.before + sent
      }
    }
  }

  /// Hands what is captured to what sends it in its other codec, too; nil for no more.
  func send(withBackup new: OutgoingTrack?) {
    replace(\.backup, by: new)
    guard let new else { return }
    new.set(muted: captured.isMuted)
    captured.media.add(
      new, .raw, onFailure: { [weak new] in new?.failed($0) }, { [colors] in _ = new.take($0, colors) })
  }

  /// Hands what is captured to what sends it.
  func send(with new: OutgoingTrack) {
    replace(\.first, by: new)
    sendFailure = nil
    new.set(muted: captured.isMuted)
    new.onResize { [weak self] size in self?.resized(to: size) }
    let isAsItIs = new.plan.isAsItIs && reason.withLock { $0 } == nil
    captured.media.add(
      self, isAsItIs ? .asItComes : .raw, onFailure: { [weak new] in new?.failed($0) },
      { [weak self, colors] media in
        if let obstacle = new.take(media, colors) { self?.encode(because: obstacle) }
      })
    guard isAsItIs, !new.plan.isVideo else { return }
    // Servers judge who speaks by how loud packets say that they are.
    captured.media.add(
      new, .raw, isMeter: true, onFailure: { [weak self, weak new] in self?.notMeasured($0, by: new) },
      { [weak new] in new?.measure($0) })
  }

  /// Called on any thread.
  private func notMeasured(_ error: LiveKitError, by outgoing: OutgoingTrack?) {
    outgoing?.forgetLevel()
    guard let session = session.withLock({ $0 }) else { return }
    Task { await session.notMeasured(error, self) }
  }

  /// Called on a media thread.
  private func resized(to size: Dimensions) {
    info.withLock { $0.dimensions = size }
    guard let session = session.withLock({ $0 }) else { return }
    Task { await session.tellSize(of: self) }
  }

  /// The frames that are captured from now on have that size, whatever is sent of them.
  func tell(_ size: Dimensions, of track: LocalVideoTrack) {
    session.withLock { $0 }?.room.tell(.dimensionsChanged(track, size))
  }

  private func encode(because obstacle: String) {
    reason.withLock { $0 = $0 ?? obstacle }
    captured.media.decode(for: self)
  }

  /// In a new session it has another SID. Whether it is muted is known here, and the server hears of it.
  func show(_ info: TrackInfo) {
    let isMuted = captured.isMuted
    self.info.withLock { own in
      own = info
      own.isMuted = isMuted
    }
    captured.state.withLock { $0.sid = info.sid }
  }
}

/// How a published track is sent.
package enum SentWay: Sendable, Equatable, CustomStringConvertible {
  /// As its source carries it.
  case asItIs
  /// Encoded; with the reason where it was to be sent as it is.
  case encoded(String?)

  package var description: String {
    switch self {
    case .asItIs: "as it is"
    case .encoded(let reason): reason.map { "encoded, since \($0)" } ?? "encoded"
    }
  }
}
