import MediaBridge

extension VideoView {
  /// When frames are flipped from left to right, as people know themselves from a mirror.
  public enum MirrorMode: Sendable, Hashable {
    /// Those of a camera of this process, unless its options say that it faces away (`position: .back`).
    case auto
    /// None.
    case off
    /// All.
    case mirror

    /// - Parameter position: of the camera whose frames these are; nil for other frames.
    func mirrors(_ position: CameraCaptureOptions.Position?) -> Bool {
      switch self {
      case .auto: position.map { $0 != .back } ?? false
      case .off: false
      case .mirror: true
      }
    }
  }
}
