import Foundation
import MediaCore

/// Pictures of another participant. All methods may be called from any thread.
///
/// `@unchecked Sendable`: constants and `Locked` values only.
public final class RemoteVideoTrack: Track, RemoteTrack, VideoTrack, @unchecked Sendable {
  private let renderers = RendererList<any VideoRenderer>()
  private let newest = Locked<VideoFrame?>(nil)
  private let lastSize = Locked<Dimensions?>(nil)
  let media: TrackMedia

  private let tell: @Sendable (RoomEvent) -> Void

  /// - Parameter tell: passes an event to the room.
  init(media: TrackMedia, info: TrackInfo, tell: @escaping @Sendable (RoomEvent) -> Void) {
    self.media = media
    self.tell = tell
    super.init(
      sid: info.sid, name: info.name, kind: .video, source: info.source, isMuted: info.isMuted,
      dimensions: info.dimensions)
  }

  /// The newest picture; nil without a renderer.
  public var videoFrame: VideoFrame? { newest.withLock { $0 } }

  /// Shows every picture from now on in `videoRenderer`, too. The first renderer starts the decoder.
  public func add(videoRenderer: any VideoRenderer) {
    guard renderers.add(videoRenderer) else { return }
    media.startDecoding { [weak self] buffer in self?.deliver(buffer) }
  }

  /// After it returns no further call comes, unless a renderer removes itself from within a call.
  public func remove(videoRenderer: any VideoRenderer) {
    guard renderers.remove(videoRenderer) else { return }
    media.stopDecoding()
    newest.withLock { $0 = nil }
  }

  private func deliver(_ decoded: DecodedMedia) {
    guard case .video(let frame) = decoded else { return }
    newest.withLock { $0 = frame }
    let size = frame.dimensions
    let isNewSize = lastSize.withLock { last in
      defer { last = size }
      return last != size
    }
    if isNewSize { announce(size) }
    renderers.callEach { $0.render(frame: frame) }
  }

  private func announce(_ size: Dimensions) {
    state.withLock { $0.dimensions = size }
    tell(.dimensionsChanged(self, size))
    renderers.callEach { renderer in
      // `set(size:)` belongs to the main actor, for which no media thread waits.
      let renderer = Unchecked(renderer)
      Task { @MainActor in
        renderer.value.set(size: CGSize(width: Int(size.width), height: Int(size.height)))
      }
    }
  }
}

/// `@unchecked Sendable`: carries a renderer to the main actor; the renderer's author owns its thread safety.
private struct Unchecked<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
