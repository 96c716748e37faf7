package import Foundation

/// What those who show or hear a track need of it.
enum TrackDemand: Hashable, Sendable {
  /// Nothing: there is nobody, or nobody who is visible.
  case nothing
  /// Frames of a size that is not known before the first one.
  case anything
  /// Frames with as many pixels as are shown.
  case size(Dimensions)
  /// All there is: somebody takes no part in adaptive stream, or shows it without bounds.
  case everything

  @MainActor init(of renderer: any VideoRenderer) {
    guard renderer.isVisible else {
      self = .nothing
      return
    }
    let size = renderer.adaptiveStreamSize
    guard renderer.isAdaptiveStreamEnabled, size != .unbounded else {
      self = .everything
      return
    }
    self = Dimensions(rounding: size).map(Self.size) ?? .anything
  }

  /// What serves both: the larger of two sizes is the one with more pixels, then the wider one.
  static func + (one: TrackDemand, other: TrackDemand) -> TrackDemand {
    one.rank.lexicographicallyPrecedes(other.rank) ? other : one
  }

  private var rank: [Int64] {
    switch self {
    case .nothing: [0]
    case .anything: [1]
    case .size(let size): [2, Int64(size.width) * Int64(size.height), Int64(size.width)]
    case .everything: [3]
    }
  }

  /// How that is asked of a server.
  var settings: TrackSettings {
    switch self {
    case .nothing: TrackSettings(isEnabled: false)
    case .anything: TrackSettings(quality: .low)
    case .size(let size): TrackSettings(dimensions: size)
    case .everything: TrackSettings()
    }
  }
}

extension Dimensions {
  private static let limit: CGFloat = 16_384

  /// Whole pixels that cover the size; nil when it has none.
  package init?(rounding size: CGSize) {
    // Written so that what is not a number fails, too.
    guard size.width > 0, size.height > 0 else { return nil }
    self.init(
      width: Int32(min(size.width, Self.limit).rounded(.up)), height: Int32(min(size.height, Self.limit).rounded(.up)))
  }
}
