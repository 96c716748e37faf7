import MediaBridge
import MediaCore
import MediaPipelines

/// A layout that somebody has described: rectangles, and who is seen in them.
public struct OwnLayout: Hashable, Sendable {
  /// A rectangle, and who is seen in it.
  public struct Tile: Hashable, Sendable {
    /// Which one goes there of those who may.
    public enum Order: String, CaseIterable, Sendable {
      /// Who came first.
      case joined
      /// Who speaks, or did last.
      case speaking
    }

    /// Which tracks.
    public enum Source: String, CaseIterable, Sendable {
      /// All of them.
      case any
      /// Cameras.
      case camera
      /// Screen shares.
      case screen
    }

    /// How a frame of another shape is laid into the rectangle.
    public enum Fit: String, CaseIterable, Sendable {
      /// All of the rectangle is filled, and what stands out of it is cut off.
      case cover
      /// All of the frame is seen.
      case contain
    }

    /// From the left edge, as a fraction of the frame's width.
    public var x: Double
    /// From the upper edge, as a fraction of the frame's height.
    public var y: Double
    /// A fraction of the frame's width.
    public var width: Double
    /// A fraction of the frame's height.
    public var height: Double
    /// The identity of who may be seen, in which `*` stands for anything and `?` for one sign.
    public var participant = "*"
    /// Which of their tracks.
    public var source = Source.any
    /// Which one of them.
    public var order = Order.joined
    /// Nil covers the rectangle with a camera, and shows all of a screen and of a frame that is higher than wide.
    public var fit: Fit?
    /// A higher one is seen above a lower one; of the same, a later one above an earlier one.
    public var level = 0

    /// The first that comes, of those who are not in a rectangle before, in fractions of the frame.
    public init(x: Double, y: Double, width: Double, height: Double) {
      (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
  }

  /// By which the metadata of the recording participant names it.
  public var name: String
  /// Each gets its track before the next; a track is seen once.
  public var tiles: [Tile]

  /// As the properties say.
  public init(name: String, tiles: [Tile]) { (self.name, self.tiles) = (name, tiles) }
}

/// Puts tracks into the tiles of a layout, and remembers who speaks in which. Pure.
struct OwnArranger: Sendable {
  private var held: [Int: SpeakerHold] = [:]

  /// - Parameters:
  ///   - tracks: in the order in which they came.
  ///   - hold: how long another one has to speak before a tile changes, as `SpeakerHold` has it.
  /// - Returns: the places of those that are seen; a later one is above an earlier one.
  mutating func places(
    of tracks: [TileTrack], in layout: OwnLayout, size: PixelSize, hold: Duration, at now: MediaTime
  ) -> [PlacedTrack] {
    let best = TileTrack.sorted(tracks)
    var taken: Set<String> = []
    var seen: [(level: Int, track: PlacedTrack)] = []
    for (index, tile) in layout.tiles.enumerated() {
      let fitting = (tile.order == .joined ? tracks : best).filter { !taken.contains($0.sid) && tile.takes($0) }
      let track =
        tile.order == .joined
        ? fitting.first : held[index, default: SpeakerHold()].choose(fitting, hold: hold, at: now)
      guard let track else { continue }
      taken.insert(track.sid)
      seen.append((tile.level, PlacedTrack(sid: track.sid, place: tile.place(of: track, in: size))))
    }
    // Sorting keeps no order of its own among equals.
    let ordered = seen.enumerated().sorted { ($0.element.level, $0.offset) < ($1.element.level, $1.offset) }
    return ordered.map(\.element.track)
  }
}

extension OwnLayout.Tile {
  fileprivate func takes(_ track: TileTrack) -> Bool {
    let isWanted =
      switch source {
      case .any: true
      case .camera: track.source == .camera
      case .screen: track.source == .screenShareVideo
      }
    return isWanted && NamePattern(participant).matches(track.identity)
  }

  /// Neighbours in fractions are neighbours in pixels.
  fileprivate func place(of track: TileTrack, in size: PixelSize) -> TilePlace {
    func even(_ fraction: Double, _ length: Int) -> Int { Int((fraction * Double(length) / 2).rounded()) * 2 }
    let (left, top) = (even(x, size.width), even(y, size.height))
    let (right, bottom) = (even(x + width, size.width), even(y + height, size.height))
    return TilePlace(
      x: left, y: top, width: max(2, right - left), height: max(2, bottom - top),
      fit: fit.map { $0 == .cover ? .cover : .contain } ?? track.fit)
  }
}
