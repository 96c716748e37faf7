import MediaCore

/// Sound of another participant. All methods may be called from any thread.
///
/// `@unchecked Sendable`: constants and `Locked` values only.
public final class RemoteAudioTrack: Track, RemoteTrack, AudioTrack, @unchecked Sendable {
  private let renderers = RendererList<any AudioRenderer>()
  private let formats = RequiredFormats()
  let media: TrackMedia

  init(media: TrackMedia, info: TrackInfo) {
    self.media = media
    super.init(
      sid: info.sid, name: info.name, kind: .audio, source: info.source, isMuted: info.isMuted, dimensions: nil)
  }

  /// Hands all sound from now on to `audioRenderer`, too, in its `requiredFormat` if it has one. The first renderer
  /// starts the decoder.
  public func add(audioRenderer: any AudioRenderer) {
    formats.add(audioRenderer)
    guard renderers.add(audioRenderer) else { return }
    media.startDecoding { [weak self] decoded in
      guard case .audio(let buffer) = decoded else { return }
      guard let self else { return }
      renderers.callEach { self.formats.render(buffer, in: $0) }
    }
  }

  /// After it returns no further call comes, unless a renderer removes itself from within a call.
  public func remove(audioRenderer: any AudioRenderer) {
    if renderers.remove(audioRenderer) { media.stopDecoding() }
    formats.remove(audioRenderer)
  }
}
