import Dispatch
public import Foundation
import GStreamerKit
public import MediaBridge
import MediaCore
import MediaPipelines

/// A window on the desktop that shows the frames of a video track: set its `track`, or add it to one as a renderer.
///
/// The window opens with the first frame, or with `open()`, and is the output template `window`. Where there is no
/// display the view is not visible, so nothing is received for it; `failure` and the room's delegates
/// (`didFailToSubscribeTrackWithSid`) say why. It closes with `close()`, when its user closes it, and with the last
/// reference to the view, of which a track to which it was added holds one. It is black while its track is muted, and
/// once that is unsubscribed; when the network fails it shows the last frame. All members may be used from any thread.
///
/// Where X11 goes away while a window is open, that is the view's `failure`; its pipeline then stays until the process
/// ends.
public final class VideoView: VideoRenderer, SizelessRenderer, FailingRenderer, MutedRenderer, CameraRenderer, Sendable
{
  enum Phase {
    /// Opens with the first frame.
    case waiting
    case open
    case closed
    case failed(LiveKitError)
  }

  struct State {
    var phase = Phase.waiting
    var look = FrameLook()
    var isHidden = false
    var isEnabled = true
    var isAdaptiveStreamEnabled = true
    var isDebugMode = false
    var isMuted = false
    var closesWithTrack = false
    var attachment: ViewAttachment?
    var shown: ShownFrames?
    /// The window's; before there is one, what it is to have. Nil when that is left to the template.
    var size: Dimensions?
    /// The newest frame that came while there was no window to show it.
    var waiting: VideoFrame?
    var watch = RenderingWatch()
    var told: Told
    var onClose: (@Sendable () -> Void)?
    var onFailure: (@Sendable (LiveKitError) -> Void)?

    /// What the delegates know.
    struct Told {
      var size: Dimensions?
      var isRendering = false
    }

    var wantsWindow: Bool {
      if case .open = phase { return !isHidden }
      return false
    }
    var isVisible: Bool {
      switch phase {
      case .waiting, .open: !isHidden && isEnabled
      case .closed, .failed: false
      }
    }
    /// Whether nothing is to be seen, also of what still comes.
    var isBlack: Bool { isMuted || !isEnabled }
    var isRendering: Bool { isVisible && watch.isRendering }

    /// What the track before says late changes nothing.
    func heeds(_ attachment: ViewAttachment?) -> Bool { attachment == nil || attachment === self.attachment }
  }

  let state: Locked<State>
  let factory: PipelineFactory
  let blackening = Reconciler()
  /// Where windows are opened and closed, and their events handled: one at a time.
  let queue = DispatchQueue(label: "mediabridge.view")
  /// The windows that are closing.
  let closing = DispatchGroup()
  /// Held weakly, and told in the order in which they were added.
  public let delegates = MulticastDelegate<any VideoViewDelegate>()

  /// A window of the template's size.
  public convenience init() { self.init(frame: .zero) }

  /// - Parameters:
  ///   - frame: the window's size in pixels, of the template's when it is empty; where the window opens is the
  ///     desktop's choice.
  ///   - pipelineFolder: a folder in which the pipeline template is looked for before the usual places.
  ///   - pipelineValues: values for the variables of the template, by name, such as `title`; they go before
  ///     `frame`. The window does not open with a name that the template does not have.
  public init(frame: CGRect, pipelineFolder: String? = nil, pipelineValues: [String: String] = [:]) {
    factory = PipelineFactory(folder: pipelineFolder, overrides: pipelineValues)
    let size = Dimensions(rounding: frame.size)
    state = Locked(State(size: size, told: State.Told(size: size)))
  }

  deinit {
    let (attachment, shown) = state.withLock { ($0.attachment, $0.shown) }
    attachment?.detach()
    // The pipeline closes its window when it goes, too, but as a matter of its last reference.
    shown?.window.stop {}
  }

  // MARK: What is shown

  /// The track that is shown, of another participant or of this process; nil for none, which is black. It is held
  /// weakly, and holds the view as little. Setting it adds the view to the track, and takes it from the one before.
  public var track: (any VideoTrack)? {
    get { state.withLock { $0.attachment }?.track }
    set {
      guard newValue !== track else { return }
      let new = newValue.map { ViewAttachment(self, to: $0) }
      let old = state.withLock { state in
        defer { state.attachment = new }
        return state.attachment
      }
      old?.detach()
      // What was seen is not of the new track.
      state.withLock { $0.watch.begin() }
      setMuted(true)
      if let new { new.attach() } else { setMuted(false) }
      // Another thread may have set another one before this was attached, and have found nothing to detach.
      if let new, state.withLock({ $0.attachment !== new }) { new.detach() }
      tellSoon()
    }
  }

  /// Whether there is no window although there would be. A track that no other renderer shows pauses meanwhile.
  public var isHidden: Bool {
    get { state.withLock { $0.isHidden } }
    set {
      guard state.set(\.isHidden, to: newValue) else { return }
      arrangeSoon()
      visibilityChanged()
    }
  }

  /// Whether frames are shown; otherwise the window is black, and a track that no other renderer shows pauses.
  public var isEnabled: Bool {
    get { state.withLock { $0.isEnabled } }
    set {
      guard state.set(\.isEnabled, to: newValue) else { return }
      blackenAsWanted()
      visibilityChanged()
    }
  }

  /// Whether the window closes once its track has ended, until there are frames of another one; false unless set, and
  /// then the window stays, black.
  public var closesWithTrack: Bool {
    get { state.withLock { $0.closesWithTrack } }
    set { state.withLock { $0.closesWithTrack = newValue } }
  }

  /// Whether frames are seen, or would be if they came: not hidden or disabled, not closed, and not failed.
  public nonisolated var isVisible: Bool { state.withLock { $0.isVisible } }

  /// Whether frames come and are seen: until none has come for two seconds.
  public var isRendering: Bool { state.withLock { $0.isRendering } }

  /// Whether a frame has come since `track` was set.
  public var didRenderFirstFrame: Bool { state.withLock { $0.watch.hasRendered } }

  // MARK: How it is shown

  /// How frames of another shape than the window's are shown; `fill` unless set.
  public var layoutMode: LayoutMode {
    get { state.withLock { $0.look.layoutMode } }
    set { look(\.layoutMode, newValue) }
  }

  /// Whether frames are flipped from left to right; `auto` unless set. Where the template has no element `mirror` they
  /// are not.
  public var mirrorMode: MirrorMode {
    get { state.withLock { $0.look.mirrorMode } }
    set { look(\.mirrorMode, newValue) }
  }

  /// How far frames are turned, instead of what they say themselves; nil unless set.
  public var rotationOverride: VideoRotation? {
    get { state.withLock { $0.look.rotation } }
    set { look(\.rotation, newValue) }
  }

  /// Writes the size of the frames over them and how many of them there are a second.
  public var isDebugMode: Bool {
    get { state.withLock { $0.isDebugMode } }
    set {
      guard state.set(\.isDebugMode, to: newValue), !newValue else { return }
      state.withLock { $0.shown }?.stopDebugging()
    }
  }

  private func look<Part: Equatable & Sendable>(
    _ part: any WritableKeyPath<FrameLook, Part> & Sendable, _ new: Part
  ) {
    let isNews = state.withLock { state in
      let isNews = state.look[keyPath: part] != new
      state.look[keyPath: part] = new
      return isNews
    }
    if isNews { queue.async { [weak self] in self?.layOut() } }
  }

  package func setCamera(_ position: CameraCaptureOptions.Position?) { look(\.camera, position) }

  // MARK: What is asked for

  /// Whether adaptive stream may choose what is received by the window's size; true unless set. Otherwise everything is
  /// received while the view is visible.
  public nonisolated var isAdaptiveStreamEnabled: Bool {
    get { state.withLock { $0.isAdaptiveStreamEnabled } }
    set {
      if state.set(\.isAdaptiveStreamEnabled, to: newValue) { adaptiveStreamDidChange() }
    }
  }

  /// The window's size in pixels; empty before there is one, unless the view was made with a size.
  public nonisolated var adaptiveStreamSize: CGSize { CGSize(state.withLock { $0.size }) }

  // MARK: What went wrong

  /// Why there is no window: `display`, `missingElement`, `template` or `pipeline`; nil when nothing went wrong.
  public var failure: LiveKitError? {
    state.withLock { state in
      if case .failed(let error) = state.phase { return error }
      return nil
    }
  }

  /// Called, on a queue of the view's, when the user has closed the window, or when it failed as `failure` says. The
  /// view stays added to its track, invisible, until it is removed or opened again.
  public var onClose: (@Sendable () -> Void)? {
    get { state.withLock { $0.onClose } }
    set { state.withLock { $0.onClose = newValue } }
  }

  package func onFailure(_ tell: (@Sendable (LiveKitError) -> Void)?) { state.withLock { $0.onFailure = tell } }
}

extension CGSize {
  /// Empty for none.
  init(_ size: Dimensions?) { self = size.map { CGSize(width: Int($0.width), height: Int($0.height)) } ?? .zero }
}
