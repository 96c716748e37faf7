/// Decides which frames a consumer gets that cannot take them all.
///
/// Encoded frames need those before them: where one has to go, all go up to the next keyframe, which is asked for once
/// there is room for it again. Pure.
public struct FrameGate: Sendable {
  /// What becomes of a frame.
  public enum Verdict: Sendable, Equatable {
    /// The consumer gets it.
    case pass
    /// The consumer does not get it.
    case drop
    /// As `drop`, and a keyframe is needed.
    case dropAndAsk
  }

  /// How full a consumer may be when it begins anew: with less room it would soon be full again, and each time costs the
  /// sender a keyframe.
  package static let reopening = 0.5

  private var isOpen: Bool
  private var hasBegun: Bool
  private var hasAsked = false
  /// Frames that the consumer lost since it began.
  public private(set) var dropped = 0

  /// - Parameter isOpen: whether the first frame passes, whatever it needs; else the consumer begins with a keyframe.
  public init(isOpen: Bool = false) { (self.isOpen, hasBegun) = (isOpen, isOpen) }

  /// - Parameters:
  ///   - isKeyframe: whether it needs no frame before it.
  ///   - fullness: how much of the consumer's room is taken, 0…1.
  public mutating func offer(isKeyframe: Bool, fullness: Double) -> Verdict {
    if isOpen, fullness < 1 { return .pass }
    if isOpen { (isOpen, hasAsked) = (false, false) }
    if isKeyframe, fullness <= Self.reopening {
      (isOpen, hasBegun) = (true, true)
      return .pass
    }
    if hasBegun { dropped += 1 }
    // The one that was asked for has come in vain.
    if isKeyframe { hasAsked = false }
    guard !hasAsked, fullness <= Self.reopening else { return .drop }
    hasAsked = true
    return .dropAndAsk
  }
}
