public import Foundation

/// Takes the frames of a video track.
///
/// `render(frame:)` is called once a frame, in order, on a media thread that is this renderer's alone while it takes:
/// one that takes long, be it all the time or once, loses the oldest of what it is too slow for, and holds up neither
/// other renderers nor the track; a `PromptRenderer` is called without a thread of its own. The size requirements are
/// of the main actor, as in the SDK this API is known from; no media thread waits for them.
public protocol VideoRenderer: AnyObject {
  /// Whether adaptive stream may choose what is received by what this renderer shows; true by default. One that says no
  /// hides with that, as in the SDK, unless it has an `isVisible` of its own: then it is served with everything, at full
  /// size, while it is visible.
  @MainActor var isAdaptiveStreamEnabled: Bool { get }
  /// Whether anybody can see it; a track that no renderer shows is paused. By default `isAdaptiveStreamEnabled`.
  @MainActor var isVisible: Bool { get }
  /// The size in pixels at which this renderer shows the frames; while it is empty the smallest layer is received. By
  /// default it has no bounds, and everything is received.
  @MainActor var adaptiveStreamSize: CGSize { get }
  /// How many frames a second are enough for this renderer; 0, which is the default, for all of them. Where all
  /// renderers of a track name a rate, the server is asked for the highest. It leaves frames out of tracks with
  /// temporal layers only, so that more may come.
  @MainActor var adaptiveStreamFPS: UInt { get }
  /// The size of the frames from now on: told before the first one of each size is rendered, and never after the
  /// renderer was removed. Where the main actor is busy for longer than 100 ms the frames do not wait for it: sizes are
  /// told when it has time, of several the newest.
  @MainActor func set(size: CGSize)
  /// One frame, on a media thread. It refers to the decoder's memory, so that many of them that are kept use up much.
  func render(frame: VideoFrame)
  /// Older spelling of `render(frame:)`, called by that one's default implementation.
  func renderFrame(_ frame: VideoFrame?)
}

extension VideoRenderer {
  @MainActor public var isAdaptiveStreamEnabled: Bool { true }
  @MainActor public var isVisible: Bool { isAdaptiveStreamEnabled }
  @MainActor public var adaptiveStreamSize: CGSize { .unbounded }
  @MainActor public var adaptiveStreamFPS: UInt { 0 }
  @MainActor public func set(size: CGSize) {}
  public func render(frame: VideoFrame) { renderFrame(frame) }
  public func renderFrame(_ frame: VideoFrame?) {}

  /// Says that one of the properties above has changed: what is received follows at once, and not within 300 ms.
  public func adaptiveStreamDidChange() { AdaptiveStreamBell.ring() }
}

extension CGSize {
  /// Of a renderer that wants all there is.
  package static let unbounded = CGSize(width: CGFloat.infinity, height: .infinity)
}

/// Takes the audio of an audio track. `render(pcmBuffer:)` is called in order, on a media thread that is this
/// renderer's alone while it takes: one that takes long loses the oldest of what it is too slow for, and holds up
/// nobody else.
public protocol AudioRenderer: AnyObject {
  /// The format in which this renderer wants its audio. Nil, which is the default, takes it at the sample rate and with
  /// the channels that the decoder makes, as floats, and nothing is converted before it is asked for.
  ///
  /// It is read once, when the renderer is added to a track.
  var requiredFormat: AudioFormat? { get }
  /// One buffer, on a media thread, with what a packet held: mostly 20 ms.
  func render(pcmBuffer: AudioPCMBuffer)
}

extension AudioRenderer {
  public var requiredFormat: AudioFormat? { nil }
}

/// A renderer of ours that has no use for `set(size:)`.
package protocol SizelessRenderer: VideoRenderer {}

/// A renderer of ours with a pipeline of its own, which may fail.
package protocol FailingRenderer: VideoRenderer {
  /// Calls `tell` from now on with why nothing is shown any more; with nil nobody is told.
  func onFailure(_ tell: (@Sendable (LiveKitError) -> Void)?)
}

/// A renderer of ours that shows frames to people, who are not to take the last one for live while none is sent on
/// purpose. It is told when it is added to a track and when that changes, on any thread.
package protocol MutedRenderer: VideoRenderer {
  func setMuted(_ isMuted: Bool)
  /// The track is not subscribed any more: as if it were muted, unless the renderer knows better.
  func trackEnded()
}

extension MutedRenderer {
  package func trackEnded() { setMuted(true) }
}

/// A renderer of ours that shows people themselves as in a mirror. It is told when it is added to a camera's track of this
/// process, and when it is removed, on any thread.
package protocol CameraRenderer: VideoRenderer {
  /// - Parameter position: of the camera; nil for frames that are of none, or of another participant's.
  func setCamera(_ position: CameraCaptureOptions.Position?)
}

/// A renderer whose `render` returns at once, whatever happens: it waits for nothing, and for no lock that others hold
/// for long. It is called where the media is decoded, which saves waking a thread for each frame, some twenty
/// microseconds. One that breaks this promise holds up its track, and with it the others that show or hear it. It is
/// not told sizes, which would have to wait for the main actor: each frame says its own.
public protocol PromptRenderer: AnyObject {
  /// Whether it does; asked when it is added. True unless implemented.
  var isPrompt: Bool { get }
}

extension PromptRenderer {
  public var isPrompt: Bool { true }
}

/// A renderer made of a closure, which is called on a media thread.
public final class VideoFrameHandler: VideoRenderer, SizelessRenderer, Sendable {
  private let handler: @Sendable (VideoFrame) -> Void
  /// - Parameter handler: called once a frame, in order.
  public init(_ handler: @escaping @Sendable (VideoFrame) -> Void) { self.handler = handler }
  public func render(frame: VideoFrame) { handler(frame) }
}

/// An audio renderer made of a closure, which is called on a media thread.
public final class AudioBufferHandler: AudioRenderer, Sendable {
  /// The format that it was made with.
  public let requiredFormat: AudioFormat?
  private let handler: @Sendable (AudioPCMBuffer) -> Void

  /// - Parameter format: the audio is brought into; nil for what the decoder makes.
  public init(format: AudioFormat? = nil, _ handler: @escaping @Sendable (AudioPCMBuffer) -> Void) {
    requiredFormat = format
    self.handler = handler
  }
  public func render(pcmBuffer: AudioPCMBuffer) { handler(pcmBuffer) }
}
