import MediaBridge
import MediaPipelines

extension VideoView {
  /// How frames are laid into a place of another shape.
  public enum LayoutMode: Sendable, Hashable {
    /// The whole frame is seen, with black bars where the shapes differ.
    case fit
    /// The whole place is filled, and what stands out of it is cut off.
    case fill
  }
}

extension TilePlace.Fit {
  init(_ mode: VideoView.LayoutMode) {
    self =
      switch mode {
      case .fit: .contain
      case .fill: .cover
      }
  }
}
