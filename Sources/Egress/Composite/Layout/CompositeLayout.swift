import Foundation
import MediaBridge
import MediaCore
import MediaPipelines

/// How the tracks of a room are laid into one frame, by the names of LiveKit Egress, or as somebody has described.
public enum CompositeLayout: Hashable, Sendable {
  /// Tiles of one size; `speaker` while somebody shares a screen.
  case grid
  /// Who speaks, or a screen share, large, and the others in a strip.
  case speaker
  /// Who speaks, or a screen share, alone.
  case singleSpeaker
  /// A screen share alone, and `grid` while there is none.
  case screenShare
  /// The camera or screen of one participant that was published or unmuted last, alone and whole.
  case participant
  /// Rectangles of one's own.
  case own(OwnLayout)
  /// Another one on white, whatever background the composite has: `grid-light`, `speaker-light`, `single-speaker-light`.
  indirect case light(CompositeLayout)

  /// Those that have names of their own.
  public static let allCases: [CompositeLayout] =
    [.grid, .speaker, .singleSpeaker, .screenShare, .participant] + [.grid, .speaker, .singleSpeaker].map(light)

  /// As people write it.
  public var rawValue: String {
    switch self {
    case .grid: "grid"
    case .speaker: "speaker"
    case .singleSpeaker: "single-speaker"
    case .screenShare: "screen-share"
    case .participant: "participant"
    case .own(let layout): layout.name
    case .light(let layout): "\(layout.rawValue)-light"
    }
  }

  /// Without the background of its own.
  var plain: CompositeLayout { if case .light(let layout) = self { layout.plain } else { self } }
  /// Seen in place of the composite's; nil where that stays.
  var background: CompositeScenery.Background? { if case .light = self { .color(0xFFFFFF) } else { nil } }

  /// Nil for a name that none of `allCases` has.
  public init?(rawValue: String) {
    guard let layout = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = layout
  }

  /// What the metadata of a participant asks for, as LiveKit's server writes it: `{"layout": "speaker"}`. A variant that
  /// there is not, such as `speaker-dark`, is that layout.
  /// - Parameter first: the layout that the composite began with, which goes by its name, too.
  init?(metadata: String, first: CompositeLayout = .grid) {
    guard let name = Self.name(inMetadata: metadata) else { return nil }
    self.init(named: name, first: first)
  }

  /// The name that it asks for; nil where it is about something else.
  static func name(inMetadata metadata: String) -> String? {
    let object = try? JSONSerialization.jsonObject(with: Data(metadata.utf8))
    return (object as? [String: Any])?["layout"] as? String
  }

  /// What cannot be done of a layout that is asked for.
  /// - Parameter layout: that is taken for it; nil where none is.
  static func refusal(of name: String, _ layout: CompositeLayout?) -> LiveKitError {
    let shown = PrintableText(name, limit: 80)
    guard let layout else {
      let known = allCases.map(\.rawValue).joined(separator: ", ")
      return LiveKitError(
        .invalidParameter, "no layout is called '\(shown)', and all stays as it is; there are \(known)")
    }
    return LiveKitError(.invalidParameter, "no layout is called '\(shown)'; it is laid out as \(layout.rawValue)")
  }

  init?(named name: String, first: CompositeLayout) {
    let longestFirst = Self.allCases.sorted { $0.rawValue.count > $1.rawValue.count }
    let named = name == first.rawValue ? first : longestFirst.first { name.hasPrefix($0.rawValue) }
    guard let named else { return nil }
    self = named
  }

  /// What is drawn for these tracks.
  fileprivate func drawn(hasScreenShare: Bool) -> CompositeLayout {
    switch self {
    case .grid: hasScreenShare ? .speaker : .grid
    case .screenShare: hasScreenShare ? .singleSpeaker : .grid
    case .speaker, .singleSpeaker, .participant, .own: self
    case .light(let layout): layout.drawn(hasScreenShare: hasScreenShare)
    }
  }
}

/// Lays out the tracks of a room as they come, go and speak. Pure: who speaks and what time it is come in, places come
/// out.
struct CompositeArranger: Sendable {
  var layout: CompositeLayout
  /// How long another one has to speak, or who is large to be quiet, before the large tile changes; none, as in Egress,
  /// follows each change at once.
  var speakerHold: Duration
  private let size: PixelSize
  private let gap: Int
  private var drawn = CompositeLayout.grid
  private var order = TileOrder()
  private var own = OwnArranger()
  private var newest = NewestTrack()
  private var main = SpeakerHold()
  private var changeover = Changeover()

  init(_ layout: CompositeLayout, size: PixelSize, gap: Int = 0, speakerHold: Duration = .zero) {
    (self.layout, self.size, self.gap, self.speakerHold) = (layout, size, gap, speakerHold)
  }

  /// Who is seen may move: nobody has looked yet.
  mutating func forgetOrder() { order = TileOrder() }

  /// - Parameter tracks: of video, in the order in which they came.
  /// - Returns: the places of those that are seen, or awaited; a later one is above an earlier one.
  mutating func places(of tracks: [TileTrack], at now: MediaTime) -> [PlacedTrack] {
    let sorted = TileTrack.sorted(tracks)
    switch choose(from: sorted, at: now) {
    case .participant: return newest.places(of: sorted, in: size)
    case .own(let layout):
      let next = own.places(of: tracks, in: layout, size: size, hold: speakerHold, at: now)
      return changeover.places(next, of: sorted, at: now)
    case .grid, .screenShare, .light: return changeover.places(grid(sorted), of: sorted, at: now)
    case .speaker: return changeover.places(speaker(sorted), large: main.held?.sid, of: sorted, at: now)
    case .singleSpeaker:
      let alone = pair(mainFirst(sorted).prefix(1), SpeakerLayout.places(count: min(1, sorted.count), in: size))
      return changeover.places(alone, large: main.held?.sid, of: sorted, at: now)
    }
  }

  private mutating func choose(from sorted: [TileTrack], at now: MediaTime) -> CompositeLayout {
    let next = layout.drawn(hasScreenShare: sorted.first?.source == .screenShareVideo)
    if next != drawn { order = TileOrder() }
    drawn = next
    follow(sorted, at: now)
    return next
  }

  /// Who is large.
  private mutating func follow(_ sorted: [TileTrack], at now: MediaTime) {
    let before = main.held?.sid
    let chosen = main.choose(sorted, hold: speakerHold, at: now)
    // The strip is laid anew then; who was large comes first.
    if drawn == .speaker, before != nil, chosen?.sid != before { order = TileOrder() }
  }

  private func mainFirst(_ sorted: [TileTrack]) -> [TileTrack] {
    let large = main.held?.sid
    return sorted.filter { $0.sid == large } + sorted.filter { $0.sid != large }
  }

  private mutating func grid(_ sorted: [TileTrack]) -> [PlacedTrack] {
    let capacity = GridLayout.capacity(for: sorted.count, in: size)
    let tracks = order.update(sorted, capacity: capacity)
    return pair(tracks.prefix(capacity), GridLayout.places(count: sorted.count, in: size, gap: gap))
  }

  private mutating func speaker(_ sorted: [TileTrack]) -> [PlacedTrack] {
    let all = mainFirst(sorted)
    let strip = order.update(Array(all.dropFirst()), capacity: SpeakerLayout.stripCapacity(in: size))
    return pair((all.prefix(1) + strip)[...], SpeakerLayout.places(count: all.count, in: size, gap: gap))
  }

  private func pair(_ tracks: ArraySlice<TileTrack>, _ places: [TilePlace]) -> [PlacedTrack] {
    zip(tracks, places).map { track, place in
      var place = place
      place.fit = track.fit
      return PlacedTrack(sid: track.sid, place: place)
    }
  }
}
