import Foundation
import MediaBridge
import MediaCore
import MediaPipelines

/// A place of a composite and the track of video that is seen there. Its size is what adaptive stream asks of the server.
final class CompositeTile: VideoRenderer, SizelessRenderer, MutedRenderer, PromptRenderer, Sendable {
  /// Under which it is laid out: that of its track when it came, or its participant's.
  let sid: String
  private let tile: MixTile
  private let painter: PlaceholderPainter?
  private let lag: Duration
  private let onFirstFrame: @Sendable () -> Void
  let adaptiveStreamFPS: UInt
  private let failed: Locked<LiveKitError?>
  private let look = Locked<Look?>(nil)
  private let shown = Locked<RemoteVideoTrack?>(nil)
  private let isGone = Locked(false)
  private let moments = Locked(SeenMoments())
  private let colors = TileColors()
  /// Between the frames that come.
  let gaps = GapWatch()

  struct Look: Equatable {
    var place: TilePlace
    /// A higher one is seen above a lower one.
    var level: Int
    /// Whether nothing of it is seen before it has another look.
    var isAwaited = false
    /// Whether its corners are, where that is asked for.
    var isRounded = false
    /// What is written over the frames; nil for nothing.
    var label: String?
    /// Whether the label says that the microphone is muted.
    var isMuted = false
    /// What is seen while there are no frames; nil for black.
    var placeholder: Placeholder?
    /// What people are told of who is seen; nil for nothing.
    var message: String?
  }

  /// - Parameters:
  ///   - failed: what goes wrong in the tile, once it has.
  ///   - painter: nil where what is muted is black.
  ///   - frameInterval: from one mixed frame to the next. A mixer shows what comes until the end of its frame at that
  ///     frame's beginning: half of it later, frames are as often early as late.
  ///   - onFirstFrame: called when the first frame has come, on a media thread.
  init(
    sid: String, in tile: MixTile, failed: Locked<LiveKitError?>, painter: PlaceholderPainter?, frameInterval: Duration,
    onFirstFrame: @escaping @Sendable () -> Void
  ) {
    self.onFirstFrame = onFirstFrame
    (self.sid, self.tile, self.failed, self.painter, lag) = (sid, tile, failed, painter, frameInterval / 2)
    adaptiveStreamFPS = frameInterval > Self.slow ? UInt((1 / frameInterval.seconds).rounded(.up)) : 0
    tile.write(nil)
    // Until it is put somewhere.
    tile.hide()
  }

  /// Mixed more often than that, all frames are asked for: a camera that slows down has none to spare.
  private static let slow = Duration.milliseconds(66)

  nonisolated var isAdaptiveStreamEnabled: Bool { true }
  nonisolated var isVisible: Bool { true }
  nonisolated var adaptiveStreamSize: CGSize {
    look.withLock { $0?.place }.map { CGSize(width: $0.width, height: $0.height) } ?? .zero
  }

  /// At the moment at which it was taken, so that it stays in step with the audio.
  func render(frame: VideoFrame) {
    let isFirst = gaps.came(at: frame.time)
    let now = MediaTime.now
    let time = moments.withLock { $0.moment(of: frame.time + lag, at: now) }
    tile.frames.show(colors.convert(frame.buffer, for: look.withLock { $0?.place.size }), at: time)
    if isFirst { onFirstFrame() }
  }
  func setMuted(_ isMuted: Bool) { tile.frames.setMuted(isMuted) }
  /// Its last frame is seen until the layout says what becomes of the tile.
  func trackEnded() {}

  /// Nil shows what stands in.
  var track: RemoteVideoTrack? { shown.withLock { $0 } }

  /// Why nothing is seen in it any more.
  var failure: LiveKitError? { failed.withLock { $0 } }
  /// Frames that nobody saw.
  var dropped: Int { tile.dropped }
  /// Frames that were seen before the moment at which they are said to be taken.
  var ahead: Int { moments.withLock { $0.ahead } }

  /// Whether a frame of it was decoded.
  var hasShown: Bool { tile.frames.hasShown }

  /// What becomes of a tile.
  struct Change {
    /// Nil shows what stands in.
    let track: RemoteVideoTrack?
    let new: Look
    fileprivate let old: Look?
    /// Nil where that stays.
    fileprivate let standIn: FrameInput.StandIn?
  }

  /// Makes what takes time to be made; nothing is seen of it before `put` and then `show`, and no other change is made
  /// meanwhile.
  func change(to new: Look, _ track: RemoteVideoTrack?) throws(LiveKitError) -> Change {
    let old = look.withLock { $0 }
    let isOther = new.placeholder != old?.placeholder || new.place.size != old?.place.size
    return Change(track: track, new: new, old: old, standIn: try isOther ? standIn(new) : nil)
  }

  /// Has its new place from a mixed frame on; takes no time.
  /// - Parameter time: by `MixPipeline.frame(at:)`.
  /// - Returns: for `MixPipeline.change(_:at:)`; nil where it stays where it is.
  func put(_ change: Change, from time: MediaTime) -> MixTile.Change? {
    let (new, old) = (change.new, change.old)
    look.withLock { $0 = new }
    guard
      new.place != old?.place || new.level != old?.level || new.isRounded != old?.isRounded
        || new.isAwaited != old?.isAwaited
    else {
      if let standIn = change.standIn { tile.frames.setStandIn(standIn) }
      return nil
    }
    adaptiveStreamDidChange()
    return tile.put(
      at: new.place, level: new.level, isRounded: new.isRounded, isSeen: !new.isAwaited, standIn: change.standIn,
      from: time)
  }

  /// The rest of it, some of which takes time.
  func show(_ change: Change) {
    let (new, old) = (change.new, change.old)
    if new.label != old?.label || new.isMuted != old?.isMuted { tile.write(new.label, isMuted: new.isMuted) }
    if old == nil { tile.start() }
    if new.message != old?.message { tile.show(label: new.message) }
    follow(change.track)
  }

  private func standIn(_ look: Look) throws(LiveKitError) -> FrameInput.StandIn? {
    guard let painter else { return nil }
    guard let placeholder = look.placeholder else { return .awaited }
    let frame = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try painter.paint(placeholder.initials, placeholder.name, on: placeholder.color, size: look.place.size)
    }
    return frame.map { FrameInput.StandIn.frame($0) } ?? .black
  }

  private func follow(_ track: RemoteVideoTrack?) {
    let old = shown.withLock { shown in
      defer { shown = track }
      return shown
    }
    if track == nil { tile.frames.setMuted(true) }
    guard old !== track else { return }
    old?.remove(videoRenderer: self)
    track?.add(videoRenderer: self)
  }

  /// It gets nothing any more; its last frame is seen until the change that this returns.
  func leave() -> MixTile.Change {
    track?.remove(videoRenderer: self)
    return tile.leave { [isGone] in isGone.withLock { $0 = true } }
  }

  /// Whether it has left, and is in no mixed frame that is still to come.
  var hasLeft: Bool { isGone.withLock { $0 } }

  /// - Returns: whether nothing of it is left; false where an element hangs.
  func remove() -> Bool {
    track?.remove(videoRenderer: self)
    return tile.remove()
  }

  /// Whether nothing is left of what was removed.
  var hasStopped: Bool { tile.hasStopped }
}

/// A track of audio as it is heard in a composite.
final class CompositeVoice: AudioRenderer, PromptRenderer, Sendable {
  let track: RemoteAudioTrack
  private let voice: MixVoice
  private let failed: Locked<LiveKitError?>
  /// Between what is decoded.
  let gaps = GapWatch()

  /// - Parameter failed: what goes wrong in the voice, once it has.
  init(_ track: RemoteAudioTrack, in voice: MixVoice, failed: Locked<LiveKitError?>) {
    (self.track, self.voice, self.failed) = (track, voice, failed)
    track.add(audioRenderer: self)
  }

  func render(pcmBuffer: AudioPCMBuffer) {
    voice.hear(pcmBuffer.buffer.media, at: pcmBuffer.time)
    gaps.came(at: pcmBuffer.time)
  }

  /// Why nothing of it is heard any more.
  var failure: LiveKitError? { failed.withLock { $0 } }
  var losses: MixVoice.Losses { voice.losses }

  /// It gets nothing any more; what it has got is still heard.
  func leave() { track.remove(audioRenderer: self) }

  /// - Returns: whether nothing of it is left; false where an element hangs.
  func remove() -> Bool {
    leave()
    return voice.remove()
  }

  /// Whether nothing is left of what was removed.
  var hasStopped: Bool { voice.hasStopped }
}
