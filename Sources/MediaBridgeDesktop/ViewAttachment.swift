import Foundation
import MediaBridge

/// Shows the frames of `VideoView.track` in the view. A track holds its renderers, which this is in place of the view,
/// so that the view goes with its own last reference.
///
/// `@unchecked Sendable`: the two references are set once; reading a weak one is safe on any thread.
final class ViewAttachment: SizelessRenderer, FailingRenderer, MutedRenderer, CameraRenderer, @unchecked Sendable {
  private weak var view: VideoView?
  private(set) weak var track: (any VideoTrack)?

  init(_ view: VideoView, to track: any VideoTrack) { (self.view, self.track) = (view, track) }

  func attach() { track?.add(videoRenderer: self) }
  func detach() { track?.remove(videoRenderer: self) }

  nonisolated var isAdaptiveStreamEnabled: Bool { view?.isAdaptiveStreamEnabled ?? true }
  nonisolated var isVisible: Bool { view?.isVisible ?? false }
  nonisolated var adaptiveStreamSize: CGSize { view?.adaptiveStreamSize ?? .zero }

  func render(frame: VideoFrame) { view?.render(frame: frame) }
  func onFailure(_ tell: (@Sendable (LiveKitError) -> Void)?) { view?.onFailure(tell) }
  func setMuted(_ isMuted: Bool) { view?.setMuted(isMuted, by: self) }
  func trackEnded() { view?.trackEnded(by: self) }
  func setCamera(_ position: CameraCaptureOptions.Position?) { view?.setCamera(position) }
}
