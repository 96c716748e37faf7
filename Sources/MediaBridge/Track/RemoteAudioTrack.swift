import MediaCore

/// Sound of another participant. All methods may be called from any thread.
///
/// `@unchecked Sendable`: constants and `Locked` values only.
public final class RemoteAudioTrack: Track, RemoteTrack, AudioTrack, @unchecked Sendable {
  /// A second of the usual 20 ms.
  private let renderers = RendererList<AudioPCMBuffer>(limit: 50)
  private let decoding = Reconciler()
  private let hooks: TrackHooks
  let media: TrackMedia

  init(media: TrackMedia, info: TrackInfo, hooks: TrackHooks) {
    self.media = media
    self.hooks = hooks
    super.init(
      sid: info.sid, name: info.name, kind: .audio, source: info.source, isMuted: info.isMuted, dimensions: nil)
  }

  /// Hands all sound from now on to `audioRenderer`, too, in its `requiredFormat` if it has one. The first renderer
  /// starts the decoder.
  public func add(audioRenderer: any AudioRenderer) {
    guard renderers.add(audioRenderer, call: Self.call(audioRenderer)) else { return }
    decode()
    hooks.demandChanged(self)
  }

  /// After it returns no further call comes, unless a renderer removes itself from within a call.
  public func remove(audioRenderer: any AudioRenderer) {
    guard renderers.remove(audioRenderer) else { return }
    decode()
    hooks.demandChanged(self)
  }

  /// Buffers that were dropped because this renderer was too slow for them; nil when it was not added.
  public func droppedBuffers(of audioRenderer: any AudioRenderer) -> Int? { renderers.dropped(of: audioRenderer) }

  override var demand: TrackDemand { isHeard ? .everything : .nothing }

  override func trackStateChanged() {
    decode()
    hooks.demandChanged(self)
  }

  private var isHeard: Bool { trackState == .started && !renderers.isEmpty }

  /// Decodes as long as there is a renderer.
  private func decode() {
    decoding.run {
      if isHeard {
        media.startDecoding { [weak self] decoded in
          if case .audio(let buffer) = decoded { self?.renderers.deliver(buffer) }
        }
      } else {
        media.stopDecoding()
      }
    }
  }

  /// Calls a renderer with each buffer, in the format that it requires.
  static func call(_ renderer: any AudioRenderer) -> @Sendable (AudioPCMBuffer) -> Void {
    let target = Unchecked(renderer)
    guard let format = renderer.requiredFormat, let required = RequiredFormat(format) else {
      return { target.value.render(pcmBuffer: $0) }
    }
    return { buffer in
      for piece in required.convert(buffer) { target.value.render(pcmBuffer: piece) }
    }
  }
}
