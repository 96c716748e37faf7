public import Foundation

/// Told what happens to a ``VideoView``, on a queue of the view's, one call after the other. Nothing that waits for the
/// view, such as ``VideoView/open()``, is to be called from there.
public protocol VideoViewDelegate: AnyObject {
  /// The window has another size, in pixels.
  func videoView(_ videoView: VideoView, didUpdate size: CGSize)
  /// ``VideoView/isRendering`` has changed.
  func videoView(_ videoView: VideoView, didUpdate isRendering: Bool)
}

extension VideoViewDelegate {
  public func videoView(_ videoView: VideoView, didUpdate size: CGSize) {}
  public func videoView(_ videoView: VideoView, didUpdate isRendering: Bool) {}
}
