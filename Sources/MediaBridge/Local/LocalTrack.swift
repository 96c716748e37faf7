import GStreamerKit
import MediaCore
import MediaPipelines

/// A track of this process. It captures while it is started and not muted; publishing starts it.
public protocol LocalTrack: Track {
  /// Lets go of the device; the track stays published, and the others are told that it is muted. Nothing is sent of it. A
  /// file, standard input or an address goes on meanwhile.
  /// - Throws: `invalidState` without a connection where it is published.
  func mute() async throws
  /// Captures again.
  /// - Throws: why it cannot be captured: the track stays muted then.
  func unmute() async throws
}

/// What the session knows of a local track.
protocol CapturedTrack: LocalTrack {
  var media: LocalMedia { get }
  /// What publishes it; held weakly.
  var publisher: WeakPublication { get }
}

/// A publication that is not held.
final class WeakPublication: Sendable {
  private struct State {
    weak var publication: LocalTrackPublication?
    var isComing = false
  }
  private let state = Locked(State())

  var publication: LocalTrackPublication? {
    get { state.withLock { $0 }.publication }
    set { state.withLock { $0.publication = newValue } }
  }

  /// Whoever begins to publish the track claims it, and gives it back when there is a publication or none can be.
  /// - Returns: false where it is published, or being published.
  func claim() -> Bool {
    state.withLock { state in
      guard state.publication == nil, !state.isComing else { return false }
      state.isComing = true
      return true
    }
  }

  func giveBack() { state.withLock { $0.isComing = false } }
}

extension CapturedTrack {
  /// Captures as it is wanted when it is this call's turn.
  func settle() async throws(LiveKitError) {
    try await media.capture { [state] in state.withLock { $0.demand } }
  }

  func begin() async throws(LiveKitError) {
    // What has failed is captured anew.
    guard state.set(\.trackState, to: .started) else { return try await settle() }
    mutingChanged()
    do throws(LiveKitError) { try await settle() } catch {
      state.withLock { $0.trackState = .stopped }
      mutingChanged()
      throw error
    }
  }

  /// Begins, and waits for what comes first, which tells its size. While it is muted it is captured for that alone.
  /// - Parameters:
  ///   - late: the error where nothing comes within `limit`.
  ///   - cancelled: the error where its task is cancelled.
  func beginWithFirst(
    within limit: Duration, else late: LiveKitError, orCancelled cancelled: LiveKitError
  ) async throws(LiveKitError) -> CapturedMedia {
    if isMuted, case .success(let known) = media.first.current {
      try await begin()
      return known
    }
    state.withLock { $0.awaitsFirst = true }
    let result: Result<CapturedMedia, LiveKitError>
    do throws(LiveKitError) {
      try await begin()
      // It may have been started, and muted, before.
      try await settle()
      result = .success(try await media.first.value(within: limit, else: late, orCancelled: cancelled))
    } catch { result = .failure(error) }
    state.withLock { $0.awaitsFirst = false }
    // While it is muted its device is let go of, which does not fail.
    try? await settle()
    return try result.get()
  }

  func end() async { await beginEnd()?.value }

  /// It is stopped when this returns: whoever starts it from then on has it captured anew, behind the end of this.
  /// - Returns: what ends once the device is let go of; nil where it was stopped before.
  func beginEnd() -> Task<Void, Never>? {
    guard state.set(\.trackState, to: .stopped) else { return nil }
    let rest = media.beginRest()
    return Task {
      await rest.value
      mutingChanged()
    }
  }

  func set(muted: Bool) async throws(LiveKitError) {
    guard state.set(\.isMuted, to: muted) else { return try await settle() }
    mutingChanged()
    do throws(LiveKitError) { try await settle() } catch {
      state.withLock { $0.isMuted = !muted }
      mutingChanged()
      throw error
    }
    try await publisher.publication?.mutingChanged()
  }
}

extension Track.State {
  fileprivate var demand: LocalMedia.Demand {
    guard trackState == .started else { return .nothing }
    guard isMuted else { return .media }
    return awaitsFirst ? .first : .muted
  }
}

/// Frames of this process: a camera, a screen, a template, or the program's own. All methods may be called from any thread.
///
/// `@unchecked Sendable`: constants and `Locked` values only.
public final class LocalVideoTrack: Track, CapturedTrack, VideoTrack, @unchecked Sendable {
  let media: LocalMedia
  let publisher = WeakPublication()
  /// Takes frames of the program's own; nil where a template captures.
  public let capturer: BufferCapturer?
  private let renderers = RendererList<VideoFrame>(limit: 3)
  private let muting = Reconciler()
  private let showing = Reconciler()
  private let newest = Locked<VideoFrame?>(nil)
  /// Of a camera; nil of what is none.
  private let position: CameraCaptureOptions.Position?

  init(
    name: String, source: Source, capture: any MediaCapture, position: CameraCaptureOptions.Position? = nil
  ) {
    media = LocalMedia(capture)
    capturer = capture as? BufferCapturer
    self.position = position
    super.init(name: name, kind: .video, source: source)
    media.onSize { [weak self] in self?.resized(to: $0) }
  }

  /// A camera.
  /// - Parameters:
  ///   - options: which one, and how.
  ///   - processor: what its frames go through.
  public static func createCameraTrack(
    name: String? = nil, options: CameraCaptureOptions = CameraCaptureOptions(), pipelineFolder: String? = nil,
    processor: (any VideoProcessor)? = nil
  ) -> LocalVideoTrack {
    let track = LocalVideoTrack(
      name: name ?? Track.cameraName, source: .camera,
      capture: TemplateCapture(template: options.template, values: options.allValues, folder: pipelineFolder)
        .output(.video), position: options.position)
    track.processor = processor
    return track
  }

  /// A screen, or a window.
  public static func createScreenShareTrack(
    name: String? = nil, options: ScreenShareCaptureOptions = ScreenShareCaptureOptions(), pipelineFolder: String? = nil
  ) -> LocalVideoTrack {
    LocalVideoTrack(
      name: name ?? Track.screenShareVideoName, source: .screenShareVideo,
      capture: TemplateCapture(template: options.templateName, values: options.allValues, folder: pipelineFolder)
        .output(.video))
  }

  /// A display or a window, under the page's name for the desktop; see ``ScreenCapturer``.
  public static func createMacOSScreenShareTrack(
    name: String? = nil, source: ScreenShareSource, options: ScreenShareCaptureOptions = ScreenShareCaptureOptions()
  ) -> LocalVideoTrack {
    var options = options
    (options.display, options.window) = (source.display, source.window)
    return createScreenShareTrack(name: name, options: options)
  }

  /// The program's own frames, which it gives to ``capturer``.
  public static func createBufferTrack(name: String? = nil, source: Source = .screenShareVideo) -> LocalVideoTrack {
    LocalVideoTrack(name: name ?? "\(source)", source: source, capture: BufferCapturer())
  }

  /// What its frames go through before they are seen here or sent; nil for nothing. May be set while it captures: one
  /// frame that is under way may still be as it was before.
  public var processor: (any VideoProcessor)? {
    get { media.processing.processor }
    set { media.set(processor: newValue) }
  }

  /// Frames that were dropped because the processor was busy with older ones.
  public var framesNotProcessed: Int { media.processing.dropped }

  /// The newest frame while it is shown here; nil without a renderer.
  public override var videoFrame: VideoFrame? { newest.withLock { $0 } }

  /// Shows what is captured in `videoRenderer`, too, as a preview.
  public func add(videoRenderer: any VideoRenderer) {
    guard renderers.add(videoRenderer, calls: RemoteVideoTrack.calls(videoRenderer)) else { return }
    (videoRenderer as? any CameraRenderer)?.setCamera(position)
    mutingChanged()
    renderersChanged()
  }

  /// After it returns no further call comes, unless a renderer removes itself from within a call.
  public func remove(videoRenderer: any VideoRenderer) {
    guard renderers.remove(videoRenderer) else { return }
    (videoRenderer as? any CameraRenderer)?.setCamera(nil)
    renderersChanged()
  }

  /// Frames come here while there is somebody who shows them.
  private func renderersChanged() {
    showing.run {
      guard renderers.isEmpty else { return media.add(self) { [weak self] captured in self?.show(captured) } }
      media.remove(self)
      newest.withLock { $0 = nil }
    }
  }

  /// Nothing is captured while it is muted or stopped.
  override func mutingChanged() {
    muting.run { renderers.setMuted(isMuted || trackState == .stopped) }
  }

  private func show(_ captured: CapturedMedia) {
    guard let frame = VideoFrame(captured) else { return }
    newest.withLock { $0 = frame }
    renderers.deliver(frame)
  }

  private func resized(to size: Dimensions) {
    let isFirst = state.withLock { state in
      defer { state.dimensions = size }
      return state.dimensions == nil
    }
    if !isFirst { publisher.publication?.tell(size, of: self) }
  }

  /// Captures, whether it is published or not.
  /// - Throws: why it cannot be captured.
  public override func start() async throws { try await begin() }
  /// Lets go of the device.
  public override func stop() async throws { await end() }
  public func mute() async throws { try await set(muted: true) }
  public func unmute() async throws { try await set(muted: false) }
}

/// Audio of this process: a microphone, a template, or the program's own. All methods may be called from any thread.
///
/// `@unchecked Sendable`: constants and `Locked` values only.
public final class LocalAudioTrack: Track, CapturedTrack, AudioTrack, @unchecked Sendable {
  let media: LocalMedia
  let publisher = WeakPublication()
  /// Takes audio of the program's own; nil where a template captures.
  public let capturer: BufferCapturer?
  private let renderers = RendererList<AudioPCMBuffer>(limit: 50)
  private let hearing = Reconciler()

  init(name: String, source: Source, capture: any MediaCapture) {
    media = LocalMedia(capture, kind: .audio)
    capturer = capture as? BufferCapturer
    super.init(name: name, kind: .audio, source: source)
  }

  /// A microphone.
  /// - Parameter options: how it is captured.
  public static func createTrack(
    name: String? = nil, options: AudioCaptureOptions = AudioCaptureOptions(), pipelineFolder: String? = nil
  ) -> LocalAudioTrack {
    LocalAudioTrack(
      name: name ?? Track.microphoneName, source: .microphone,
      capture: TemplateCapture(template: options.templateName, values: options.allValues, folder: pipelineFolder)
        .output(.audio))
  }

  /// What is heard on this machine, which goes with a screen.
  /// - Parameter options: how it is captured: `audioTemplate` and `audioValues` of them.
  public static func createScreenShareAudioTrack(
    name: String? = nil, options: ScreenShareCaptureOptions = ScreenShareCaptureOptions(), pipelineFolder: String? = nil
  ) -> LocalAudioTrack {
    LocalAudioTrack(
      name: name ?? Track.screenShareAudioName, source: .screenShareAudio,
      capture: TemplateCapture(template: options.audioTemplate, values: options.audioValues, folder: pipelineFolder)
        .output(.audio))
  }

  /// The program's own audio, which it gives to ``capturer``.
  public static func createBufferTrack(name: String? = nil, source: Source = .microphone) -> LocalAudioTrack {
    LocalAudioTrack(name: name ?? "\(source)", source: source, capture: BufferCapturer())
  }

  /// Hands what is captured to `audioRenderer`, too, in its `requiredFormat` if it has one.
  public func add(audioRenderer: any AudioRenderer) {
    guard renderers.add(audioRenderer, calls: RemoteAudioTrack.calls(audioRenderer)) else { return }
    renderersChanged()
  }

  /// After it returns no further call comes, unless a renderer removes itself from within a call.
  public func remove(audioRenderer: any AudioRenderer) {
    if renderers.remove(audioRenderer) { renderersChanged() }
  }

  /// Audio comes here while there is somebody who hears it.
  private func renderersChanged() {
    hearing.run {
      guard !renderers.isEmpty else { return media.remove(self) }
      media.add(self) { [weak self] captured in
        if let buffer = AudioPCMBuffer(captured) { self?.renderers.deliver(buffer) }
      }
    }
  }

  /// Captures, whether it is published or not.
  /// - Throws: why it cannot be captured.
  public override func start() async throws { try await begin() }
  /// Lets go of the device.
  public override func stop() async throws { await end() }
  public func mute() async throws { try await set(muted: true) }
  public func unmute() async throws { try await set(muted: false) }
}

extension VideoFrame {
  init?(_ captured: CapturedMedia) {
    guard let buffer = VideoFrameBuffer(captured.media) else { return nil }
    self.init(buffer: buffer, time: captured.time)
  }
}

extension AudioPCMBuffer {
  convenience init?(_ captured: CapturedMedia) {
    guard let buffer = AudioBuffer(captured.media) else { return nil }
    self.init(buffer: buffer, time: captured.time)
  }
}
