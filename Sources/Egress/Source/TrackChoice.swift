import MediaBridge

/// Which tracks of a participant go into a file: one video and one audio at most. What flows first plays no part.
///
/// Pure: it knows what was asked for, and which sources were taken.
struct TrackChoice: Sendable {
  private(set) var sids: Set<String>
  private let followsSids: Bool
  private let sources: Set<Track.Source>
  private let names: NamePatterns
  private var kindsByDefault: Set<Track.Kind>
  /// What the file holds of each kind from the first track on: a screen does not take the place of a camera that ends.
  private(set) var taken: [Track.Kind: Track.Source] = [:]
  /// All that ever were.
  private(set) var takenSids: Set<String> = []

  init(_ options: RecordingOptions) {
    (sids, followsSids) = (Set(options.trackSids), options.followsSids)
    sources = Set(options.sources)
    names = NamePatterns(options.trackNames)
    kindsByDefault = options.kinds
  }

  /// What the file is to have; of single tracks as much as is known.
  func kinds(of tracks: [TrackPublication]) -> Set<Track.Kind> {
    guard sids.isEmpty else { return sids.count > 1 ? [.video, .audio] : Set(tracks.map(\.kind)) }
    return sources.isEmpty ? kindsByDefault : Set(sources.map(\.kind))
  }

  func isNamed(_ track: TrackPublication) -> Bool { sids.contains(track.sid) || sources.contains(track.source) }

  func accepts(_ track: TrackPublication) -> Bool {
    guard sids.isEmpty else { return sids.contains(track.sid) }
    guard names.matches(track.name) else { return false }
    guard sources.isEmpty else { return sources.contains(track.source) }
    return kindsByDefault.contains(track.kind) && (taken[track.kind] ?? track.source) == track.source
  }

  /// One of each kind, the video first.
  func best<Publication: TrackPublication>(of tracks: some Sequence<Publication>) -> [Publication] {
    let order = Self.ordered(tracks.filter(accepts))
    return [Track.Kind.video, .audio].compactMap { kind in order.first { $0.kind == kind } }
  }

  /// Whether nothing that may still be published would go before these.
  func isFinal(_ tracks: [TrackPublication]) -> Bool {
    guard sids.isEmpty, sources.isEmpty else { return true }
    return tracks.allSatisfy { $0.source == .camera || $0.source == .microphone }
  }

  /// What the output takes from now on besides what it took before.
  mutating func take(_ kinds: Set<Track.Kind>) { kindsByDefault.formUnion(kinds) }

  mutating func take(_ track: TrackPublication) {
    taken[track.kind] = taken[track.kind] ?? track.source
    takenSids.insert(track.sid)
  }

  /// A track that was taken has another SID from now on, and is still the one that was named.
  mutating func rename(_ old: String, to new: String) {
    takenSids.insert(new)
    if followsSids, sids.contains(old) { sids.insert(new) }
  }

  /// The camera before a shared screen, and the one that is known before one that is not.
  static func ordered<Publication: TrackPublication>(_ tracks: [Publication]) -> [Publication] {
    let order: [Track.Source] = [.camera, .microphone, .screenShareVideo, .screenShareAudio, .unknown]
    return tracks.sorted {
      (order.firstIndex(of: $0.source) ?? 9, $0.sid) < (order.firstIndex(of: $1.source) ?? 9, $1.sid)
    }
  }

  // MARK: What is left out

  /// Why a track is not in the file, and how to get it.
  func reason(against track: TrackPublication) -> String {
    let byTrack = "--track \(track.sid) records it"
    guard sids.isEmpty || sids.contains(track.sid) else { return "it was not asked for; \(byTrack)" }
    guard names.matches(track.name) else { return "its name '\(track.name)' was not asked for; \(byTrack)" }
    let remedy = track.source == .unknown ? byTrack : "--source \(track.source.optionName) records it"
    guard sources.isEmpty || sources.contains(track.source) else { return "it was not asked for; \(remedy)" }
    guard let held = taken[track.kind] else { return "it was not asked for; \(remedy)" }
    if held == track.source || isNamed(track) { return "the file holds another one; \(byTrack)" }
    return "the file holds the \(held.spoken(track.kind)); \(remedy)"
  }

  /// The sources or names that were asked for, for people; nil where there are none.
  var wish: String? {
    guard !sources.isEmpty else { return names.words.map { "track called \($0)" } }
    return sources.sorted { $0.rawValue < $1.rawValue }.map { $0.spoken($0.kind) }.joined(separator: " and the ")
  }

  /// What somebody has to publish, for people; nil where anything will do.
  var want: String? {
    if let wish { return "the \(wish)" }
    return sids.isEmpty && kindsByDefault.count == 1 ? kindsByDefault.first?.description : nil
  }

  /// What was asked for by name and never came.
  func missing(of participant: String) -> [Omission] {
    let sources = sources.filter { taken[$0.kind] == nil }.sorted { $0.rawValue < $1.rawValue }.map { source in
      Omission(
        sid: "", kind: source.kind, source: source, participant: participant, reason: "it was never published",
        wasWanted: true)
    }
    let tracks = sids.subtracting(takenSids).sorted().map { sid in
      Omission(
        sid: sid, kind: .none, source: .unknown, participant: participant, reason: "it was never published",
        wasWanted: true)
    }
    return sources + tracks
  }

}
