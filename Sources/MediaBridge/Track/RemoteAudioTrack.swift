import MediaCore

/// Audio of another participant. All methods may be called from any thread.
///
/// `@unchecked Sendable`: constants and `Locked` values only.
public final class RemoteAudioTrack: Track, RemoteTrack, AudioTrack, @unchecked Sendable {
  /// A second of the usual 20 ms.
  private let renderers = RendererList<AudioPCMBuffer>(limit: 50)
  private let playback = PlaybackTap()
  private let decoding = Reconciler()
  private let hooks: TrackHooks

  init(media: TrackMedia, info: TrackInfo, hooks: TrackHooks) {
    self.hooks = hooks
    super.init(media: media, kind: .audio, info: info)
  }

  /// Hands all audio from now on to `audioRenderer`, too, in its `requiredFormat` if it has one. The first renderer
  /// starts the decoder.
  public func add(audioRenderer: any AudioRenderer) {
    guard renderers.add(audioRenderer, calls: Self.calls(audioRenderer)) else { return }
    needsChanged()
  }

  /// After it returns no further call comes, unless a renderer removes itself from within a call.
  public func remove(audioRenderer: any AudioRenderer) {
    guard renderers.remove(audioRenderer) else { return }
    needsChanged()
  }

  /// Buffers that were dropped because this renderer was too slow for them; nil when it was not added.
  public func droppedBuffers(of audioRenderer: any AudioRenderer) -> Int? { renderers.dropped(of: audioRenderer) }

  /// How loud it is played, from 0 (not heard) to 1 (as it was sent), the default; what lies outside is brought inside,
  /// and what is not a number is passed over. It takes effect within 20 ms and the device's own buffer, and is kept for
  /// when playback begins later. Renderers get the audio as it was sent.
  ///
  /// A track at volume 0 is still received, so that it is heard at once when it is turned up.
  public var volume: Double {
    get { playback.volume }
    set { playback.volume = newValue }
  }

  override func needsChanged() {
    decode()
    hooks.demandChanged(self)
  }

  /// Plays its audio into `input` from now on, too; nil ends that.
  func play(into input: PlaybackInput?) {
    playback.open(input)
    needsChanged()
  }

  /// Whether it is being played, however loud.
  var isPlayed: Bool { playback.isOpen }

  private var isHeard: Bool { trackState == .started && (isPlayed || !renderers.isEmpty) }

  override var demand: TrackDemand { isHeard ? .everything : .nothing }

  /// Decodes as long as there is a renderer, or it is played.
  private func decode() {
    decoding.run {
      if isHeard {
        incoming?.startDecoding { [weak self] decoded in
          if case .audio(let buffer) = decoded { self?.deliver(buffer) }
        }
      } else {
        incoming?.stopDecoding()
      }
    }
  }

  private func deliver(_ buffer: AudioPCMBuffer) {
    playback.play(buffer)
    renderers.deliver(buffer)
  }

  /// Calls a renderer with each buffer, in the format that it requires.
  static func calls(_ renderer: any AudioRenderer) -> RendererCalls<AudioPCMBuffer> {
    let (target, isPrompt) = (Unchecked(renderer), RendererCalls<AudioPCMBuffer>.isPrompt(renderer))
    guard let format = renderer.requiredFormat, let required = RequiredFormat(format) else {
      return RendererCalls(isPrompt: isPrompt) { target.value.render(pcmBuffer: $0) }
    }
    return RendererCalls(isPrompt: isPrompt) { buffer in
      for piece in required.convert(buffer) { target.value.render(pcmBuffer: piece) }
    }
  }
}
