package import Foundation

/// What those who show or hear a track need of it.
struct TrackDemand: Hashable, Sendable {
  private enum Extent: Hashable {
    case nothing, anything
    case size(Dimensions)
    case everything

    var rank: [Int64] {
      switch self {
      case .nothing: [0]
      case .anything: [1]
      case .size(let size): [2, Int64(size.width) * Int64(size.height), Int64(size.width)]
      case .everything: [3]
      }
    }
  }

  private let extent: Extent
  /// Frames a second that are enough; 0 for all of them.
  private let fps: UInt

  /// Nothing: there is nobody, or nobody who is visible.
  static let nothing = TrackDemand(extent: .nothing)
  /// Frames of a size that is not known before the first one.
  static let anything = TrackDemand(extent: .anything)
  /// All there is: somebody takes no part in adaptive stream, or shows it without bounds.
  static let everything = TrackDemand(extent: .everything)
  /// Frames with as many pixels as are shown.
  static func size(_ size: Dimensions) -> TrackDemand { TrackDemand(extent: .size(size)) }

  @MainActor init(of renderer: any VideoRenderer) {
    guard renderer.isVisible else {
      self = .nothing
      return
    }
    guard renderer.isAdaptiveStreamEnabled else {
      self = .everything
      return
    }
    let size = renderer.adaptiveStreamSize
    let extent = size == .unbounded ? .everything : Dimensions(rounding: size).map(Extent.size) ?? .anything
    self.init(extent: extent, fps: renderer.adaptiveStreamFPS)
  }

  private init(extent: Extent, fps: UInt = 0) { (self.extent, self.fps) = (extent, fps) }

  /// What serves both: the larger of two sizes is the one with more pixels, then the wider one.
  static func + (one: TrackDemand, other: TrackDemand) -> TrackDemand {
    guard one.extent != .nothing else { return other }
    guard other.extent != .nothing else { return one }
    let extent = one.extent.rank.lexicographicallyPrecedes(other.extent.rank) ? other.extent : one.extent
    return TrackDemand(extent: extent, fps: one.fps == 0 || other.fps == 0 ? 0 : max(one.fps, other.fps))
  }

  /// How that is asked of a server.
  var settings: TrackSettings {
    switch extent {
    // LiveKit's server may send it all the same, for a while (`SubscribedTrack.Bound`): then as little as there is.
    case .nothing: TrackSettings(isEnabled: false, quality: .low)
    case .anything: TrackSettings(quality: .low, fps: fps)
    case .size(let size): TrackSettings(dimensions: size, fps: fps)
    case .everything: TrackSettings(fps: fps)
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
