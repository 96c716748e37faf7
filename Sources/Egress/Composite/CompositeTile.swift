import Foundation
import MediaBridge
import MediaCore
import MediaPipelines

/// A track of video as it is seen in a composite. Its size is what adaptive stream asks of the server.
final class CompositeTile: VideoRenderer, SizelessRenderer, MutedRenderer, PromptRenderer, Sendable {
  /// Under which it is laid out: that of its track when it came.
  let sid: String
  let track: RemoteVideoTrack
  private let tile: MixTile
  private let lag: Duration
  private let look = Locked<Look?>(nil)

  struct Look: Equatable {
    var place: TilePlace
    /// A higher one is seen above a lower one.
    var level: Int
    /// What is written over the frames; nil for nothing.
    var label: String?
  }

  /// Shows the track from now on.
  /// - Parameter frameInterval: from one mixed frame to the next. A mixer shows what comes until the end of its frame at
  ///   that frame's beginning: half of it later, frames are as often early as late.
  init(_ track: RemoteVideoTrack, sid: String, in tile: MixTile, _ look: Look, frameInterval: Duration) {
    (self.track, self.sid, self.tile, lag) = (track, sid, tile, frameInterval / 2)
    tile.write(nil)
    show(look)
    tile.start()
    track.add(videoRenderer: self)
  }

  nonisolated var isAdaptiveStreamEnabled: Bool { true }
  nonisolated var isVisible: Bool { true }
  nonisolated var adaptiveStreamSize: CGSize {
    look.withLock { $0?.place }.map { CGSize(width: $0.width, height: $0.height) } ?? .zero
  }

  /// At the moment at which it was taken, so that it stays in step with the audio.
  func render(frame: VideoFrame) { tile.frames.show(frame.buffer, at: frame.time + lag) }
  func setMuted(_ isMuted: Bool) { tile.frames.setMuted(isMuted) }

  /// Whether a frame of it was decoded.
  var hasShown: Bool { tile.frames.hasShown }

  func show(_ new: Look) {
    let old = look.withLock { look in
      defer { look = new }
      return look
    }
    if new.label != old?.label { tile.write(new.label) }
    guard new.place != old?.place || new.level != old?.level else { return }
    tile.put(at: new.place, level: new.level)
    adaptiveStreamDidChange()
  }

  /// When it returns nothing of it is left.
  func remove() {
    track.remove(videoRenderer: self)
    tile.remove()
  }
}

/// A track of audio as it is heard in a composite.
final class CompositeVoice: AudioRenderer, PromptRenderer, Sendable {
  let track: RemoteAudioTrack
  private let voice: MixVoice
  private let heard = Locked(false)

  init(_ track: RemoteAudioTrack, in voice: MixVoice) {
    (self.track, self.voice) = (track, voice)
    track.add(audioRenderer: self)
  }

  func render(pcmBuffer: AudioPCMBuffer) {
    voice.hear(pcmBuffer.buffer.media, at: pcmBuffer.time)
    heard.withLock { $0 = true }
  }

  /// Whether something of it was decoded.
  var isHeard: Bool { heard.withLock { $0 } }

  /// When it returns nothing of it is left.
  func remove() {
    track.remove(audioRenderer: self)
    voice.remove()
  }
}
