import Foundation
import MediaCore

/// Frames of another participant. All methods may be called from any thread.
///
/// `@unchecked Sendable`: constants and `Locked` values only.
public final class RemoteVideoTrack: Track, RemoteTrack, VideoTrack, @unchecked Sendable {
  /// Frames are large: a renderer that is three behind will hardly catch up.
  private let renderers = RendererList<VideoFrame>(limit: 3)
  private let demands = RendererDemands()
  private let membership = Reconciler()
  private let decoding = Reconciler()
  private let muting = Reconciler()
  private let newest = Locked<VideoFrame?>(nil)
  private let lastSize = Locked<Dimensions?>(nil)
  private let hooks: TrackHooks

  init(media: TrackMedia, info: TrackInfo, hooks: TrackHooks) {
    self.hooks = hooks
    super.init(media: media, kind: .video, info: info)
  }

  /// The newest frame; nil without a renderer, and before the first one.
  public override var videoFrame: VideoFrame? { newest.withLock { $0 } }

  /// Shows every frame from now on in `videoRenderer`, too. The first renderer starts the decoder.
  public func add(videoRenderer: any VideoRenderer) {
    guard renderers.add(videoRenderer, calls: Self.calls(videoRenderer)) else { return }
    (videoRenderer as? any FailingRenderer)?.onFailure { [weak self] in self?.failed($0) }
    mutingChanged()
    membersChanged()
  }

  /// After it returns no further call comes, unless a renderer removes itself from within a call.
  public func remove(videoRenderer: any VideoRenderer) {
    guard renderers.remove(videoRenderer) else { return }
    (videoRenderer as? any FailingRenderer)?.onFailure(nil)
    membersChanged()
  }

  private func failed(_ error: LiveKitError) { hooks.failed(self, error) }

  /// Who is shown to needs something, and nobody else does, whichever thread added or removed whom last.
  private func membersChanged() {
    membership.run { demands.keep(to: renderers.members.compactMap { $0 as? any VideoRenderer }) }
    needsChanged()
  }

  /// Frames that were dropped because this renderer was too slow for them; nil when it was not added.
  public func droppedFrames(of videoRenderer: any VideoRenderer) -> Int? { renderers.dropped(of: videoRenderer) }

  override var demand: TrackDemand { trackState == .started ? demands.combined : .nothing }
  override var isRendered: Bool { !demands.isEmpty }
  @MainActor override func readDemands() -> Bool { demands.read() }

  override func needsChanged() {
    decode()
    hooks.demandChanged(self)
  }

  /// Whoever mutes, ends or adds last, each renderer hears what is so at the end.
  override func mutingChanged() {
    muting.run {
      if end.hasCome { renderers.tellEnd() } else { renderers.setMuted(isMuted) }
    }
  }

  private var isShown: Bool { trackState == .started && !renderers.isEmpty }

  /// Decodes as long as there is a renderer.
  private func decode() {
    decoding.run {
      if isShown {
        incoming?.startDecoding { [weak self] decoded in self?.deliver(decoded) }
      } else {
        incoming?.stopDecoding()
        newest.withLock { $0 = nil }
      }
    }
  }

  private func deliver(_ decoded: DecodedMedia) {
    guard case .video(let frame) = decoded else { return }
    newest.withLock { $0 = frame }
    // The decoder may have a last frame when the last renderer has gone.
    guard isShown else { return newest.withLock { $0 = nil } }
    if lastSize.set(\.self, to: frame.dimensions) { announce(frame.dimensions) }
    renderers.deliver(frame)
  }

  private func announce(_ size: Dimensions) {
    state.withLock { $0.dimensions = size }
    hooks.tell(.dimensionsChanged(self, size))
  }

  /// Calls a renderer with each frame, and before with its size where that is a new one to it and it wants to know.
  static func calls(_ renderer: any VideoRenderer) -> RendererCalls<VideoFrame> {
    let isPrompt = RendererCalls<VideoFrame>.isPrompt(renderer)
    let isSizeless = renderer is any SizelessRenderer
    let renderer = Unchecked(renderer)
    let render = { @Sendable (frame: VideoFrame) in renderer.value.render(frame: frame) }
    guard !isPrompt, !isSizeless else { return RendererCalls(isPrompt: isPrompt, render: render) }
    let known = Locked<Dimensions?>(nil)
    return RendererCalls(
      notice: { frame in
        let size = frame.dimensions
        guard known.set(\.self, to: size) else { return nil }
        return { renderer.value.set(size: CGSize(width: Int(size.width), height: Int(size.height))) }
      }, render: render)
  }
}
