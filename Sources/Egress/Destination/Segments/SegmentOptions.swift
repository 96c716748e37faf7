import Foundation
import MediaBridge
import MediaPipelines
import PipelineTemplates

/// How an output is cut into segments, and which playlists list them: what the variables of its template say.
struct SegmentOptions: Equatable, Sendable {
  /// What is asked for, as long as keyframes come.
  var duration: Duration
  /// Of the playlist that the destination names.
  var playlist: MediaPlaylist.Kind
  /// The name of a live playlist beside it, in the same folder.
  var livePlaylist: String?
  /// Segments that a live playlist lists.
  var liveSegments: Int
  /// Whether segments go that no playlist lists any more.
  var deletesSegments: Bool
  /// From one image to the next; nil where media comes, and no images.
  var imageInterval: Duration?
  /// What tells its files apart.
  var suffix: Suffix
  /// Whether what is said is to be beside them.
  var hasCaptions = false

  /// What stands in a file's name behind that of the destination.
  enum Suffix: String, CaseIterable {
    /// `_00000` and so on.
    case index
    /// `_20060102150405000`, when it began, UTC with milliseconds.
    case timestamp
    /// Nothing: the newest image alone stays.
    case none
  }

  /// The longest time from one keyframe to the next; nil for images.
  var keyframeInterval: Duration? { imageInterval == nil ? duration : nil }

  /// Whether it may go on under another name: who plays a live playlist, or looks at the newest image, knows one.
  var mayHaveParts: Bool { imageInterval == nil && playlist == .event }

  /// Whether a playlist that has begun can go on so: what it has promised stays.
  func canResume(as next: SegmentOptions) -> Bool {
    var same = next
    (same.duration, same.imageInterval) = (duration, imageInterval)
    return same == self && (next.imageInterval == nil) == (imageInterval == nil)
      && SegmentCutter(next.duration).targetDuration <= SegmentCutter(duration).targetDuration
  }

  /// - Returns: nil for a template without the appsink `segments`.
  /// - Throws: a value that cannot be.
  init?(_ template: Template, _ filled: FilledTemplate, set: [String: String]) throws(LiveKitError) {
    guard filled.hasSegments else { return nil }
    let values = SegmentValues(
      all: template.variables.reduce(into: [:]) { $0[$1.name] = set[$1.name] ?? $1.defaultValue })
    duration = .seconds(try values.number("segment-duration", usual: 4, in: 0.1...3600, "seconds, such as 4"))
    liveSegments = Int(try values.number("live-segments", usual: 5, in: 1...10_000, "a number of segments, such as 5"))
    playlist = try values.isFirst("playlist", "live", "event") ? .live(liveSegments) : .event
    deletesSegments = try values.isFirst("delete-segments", "true", "false")
    livePlaylist = values.all["live-playlist"].flatMap { $0.isEmpty ? nil : $0 }
    if values.all["capture-interval"] != nil {
      imageInterval = .seconds(
        try values.number("capture-interval", usual: 10, in: 0.01...86_400, "seconds, such as 10"))
    }
    let suffixes = imageInterval == nil ? [.index, .timestamp] : Suffix.allCases
    suffix =
      Suffix(rawValue: try values.word("filename-suffix", of: suffixes.map(\.rawValue), usual: "index")) ?? .index
    try check()
  }

  /// - Throws: the destination is called as something else than what is written there.
  func check(_ destination: Destination, of template: TemplateName) throws(LiveKitError) {
    guard imageInterval == nil, destination.isFile else { return }
    let ending = destination.ending
    guard Self.otherEndings.contains(ending), ending != template.name else { return }
    let stem = destination.location.dropLast(ending.count + 1)
    throw LiveKitError(
      .invalidParameter,
      "'\(destination.location)' is no name for a playlist, which \(template) writes: write \(stem).m3u8, beside which "
        + "its segments are")
  }

  /// What no playlist is. Any other ending may be part of a name, such as a participant's.
  private static let otherEndings: Set = [
    "flv", "jpeg", "jpg", "m4s", "m4v", "mkv", "mov", "mp3", "mp4", "ogg", "png", "ts", "wav", "webm",
  ]

  private func check() throws(LiveKitError) {
    if deletesSegments, playlist == .event {
      throw LiveKitError(
        .invalidParameter,
        "`delete-segments` is for a live playlist: an event playlist lists all; set playlist=live too")
    }
    guard let livePlaylist else { return }
    guard playlist == .event else {
      throw LiveKitError(.invalidParameter, "`live-playlist` stands beside an event playlist; leave out playlist=live")
    }
    guard !livePlaylist.contains("/"), livePlaylist.hasSuffix(".m3u8") else {
      throw LiveKitError(
        .invalidParameter,
        "'\(livePlaylist)' is no value for `live-playlist`: give a name in the folder of the playlist, "
          + "such as live.m3u8")
    }
  }
}

extension FilledTemplate {
  /// Whether Swift writes what comes out of it.
  var hasSegments: Bool { elements.contains { $0.name == "segments" } }
}

/// The variables of a template with their values.
private struct SegmentValues {
  let all: [String: String]

  func number(
    _ name: String, usual: Double, in range: ClosedRange<Double>, _ words: String
  ) throws(LiveKitError) -> Double {
    guard let text = all[name] else { return usual }
    guard let number = Double(text), range.contains(number) else { throw mistake(name, text, words) }
    return number
  }

  /// Which of two words it is; the second where the template does not say.
  func isFirst(_ name: String, _ first: String, _ second: String) throws(LiveKitError) -> Bool {
    try word(name, of: [first, second], usual: second) == first
  }

  /// - Parameter usual: where the template does not say.
  func word(_ name: String, of known: [String], usual: String) throws(LiveKitError) -> String {
    let text = all[name] ?? usual
    guard known.contains(text) else { throw mistake(name, text, known.joined(separator: " or ")) }
    return text
  }

  private func mistake(_ name: String, _ text: String, _ words: String) -> LiveKitError {
    LiveKitError(.invalidParameter, "'\(text)' is no value for `\(name)`: give \(words)")
  }
}
