import Foundation
import MediaBridge
import MediaCore

/// What is said, beside segments of media: a WebVTT rendition (RFC 8216, 3.5), which has a playlist of its own and a segment
/// for each of them, and a multivariant playlist that names both.
final class SegmentCaptions: Sendable {
  private struct State {
    var playlists: SegmentPlaylists
    var ledger = SegmentLedger()
    /// Bits a second of the largest segment of media.
    var peak = 0
  }

  /// What others see and add, who do not wait for a disk.
  private struct Said {
    var shown = ShownCaptions()
    var count = 0
    var segments: [String] = []
  }

  private let names: CaptionNames
  private let claim: FileClaim
  /// Of whoever writes segments, and held meanwhile.
  private let state: Locked<State>
  private let said = Locked(Said())

  /// - Parameters:
  ///   - media: the names of the segments that it is beside.
  ///   - options: of those.
  init(_ media: SegmentNames, _ options: SegmentOptions) throws(LiveKitError) {
    names = CaptionNames(media)
    claim = try FileClaim.taken(names.playlist)
    state = Locked(State(playlists: SegmentPlaylists(options, claim)))
  }

  /// Takes out what the playlist held before.
  func empty() throws(LiveKitError) { try claim.empty() }

  /// The two playlists.
  var files: [String] { [names.playlist, names.multivariant] }
  /// Those that are there.
  var segments: [String] { said.withLock { $0.segments } }
  /// How many cues have come.
  var count: Int { said.withLock { $0.count } }

  /// - Parameter cue: with times since the output's beginning.
  func add(_ cue: CaptionCue) {
    said.withLock { said in
      said.count += 1
      said.shown.add(cue)
    }
  }

  /// Writes what is said in a segment of media that has ended.
  /// - Parameters:
  ///   - media: as the playlist lists it.
  ///   - begin: of it, since the output's beginning.
  ///   - ticks: of 90 kHz, that are the output's beginning in the segments.
  func end(
    _ media: MediaPlaylist.Segment, from begin: Duration, bytes: Int, ticks: Int, targetDuration: Int
  ) throws(LiveKitError) {
    let cues = said.withLock { $0.shown.take(from: begin, to: begin + media.duration) }
    try state.withLock { state throws(LiveKitError) in
      let path = names.segment(state.ledger.count)
      let text = Array(WebVTT.segment(of: cues, ticks: ticks).utf8)
      close(try WholeFile.write(text, to: path))
      state.ledger.add(segment: path, bytes: text.count, lasting: media.duration)
      var listed = media
      listed.name = (path as NSString).lastPathComponent
      try state.playlists.list(listed, targetDuration: targetDuration, initialization: nil)
      if let kept = state.playlists.kept {
        for old in state.ledger.takeOld(keeping: kept) { unlink(old) }
      }
      let there = state.ledger.files
      said.withLock { $0.segments = there }
      try name(bits: Int(Double(bytes * 8) / max(media.duration / .seconds(1), 0.001)), &state)
    }
  }

  /// Says how much is sent at most, which players ask for.
  private func name(bits: Int, _ state: inout State) throws(LiveKitError) {
    guard bits > state.peak else { return }
    state.peak = bits
    close(try WholeFile.write(Array(names.multivariantText(bits: bits).utf8), to: names.multivariant))
  }

  /// What comes from now on is of another pipeline.
  func resume() {
    said.withLock { $0.shown = ShownCaptions() }
    state.withLock { $0.playlists.resume(initialization: nil) }
  }

  /// Ends the playlist. Nothing comes any more.
  func finish() throws(LiveKitError) {
    defer { claim.release() }
    try state.withLock { state throws(LiveKitError) in try state.playlists.finish() }
  }
}

/// Which cues are in a segment. Pure.
///
/// What is said is known at its end, when the segments in which it began may be over: then it is seen in the next one.
struct ShownCaptions: Sendable {
  private struct Cue {
    var cue: CaptionCue
    var isShown = false
  }

  private var cues: [Cue] = []
  /// How long it is seen where it comes late.
  private static let late = Duration.seconds(3)

  mutating func add(_ cue: CaptionCue) { cues.append(Cue(cue: cue)) }

  /// Those that are seen in a segment; one that is seen in several is in each of them.
  mutating func take(from begin: Duration, to end: Duration) -> [CaptionCue] {
    for index in cues.indices where !cues[index].isShown && cues[index].cue.start < begin {
      let cue = cues[index].cue
      cues[index].cue.end = max(cue.end, begin + min(cue.end - cue.start, Self.late))
      cues[index].cue.start = begin
    }
    for index in cues.indices where cues[index].cue.start < end { cues[index].isShown = true }
    let taken = cues.filter(\.isShown).map(\.cue)
    cues.removeAll { $0.isShown && $0.cue.end <= end }
    return taken.sorted { $0.start < $1.start }
  }
}

/// What the files of a rendition of captions are called, beside those of segments of media.
struct CaptionNames: Sendable {
  private let media: SegmentNames

  init(_ media: SegmentNames) { self.media = media }

  var playlist: String { media.path(media.beside("_captions.m3u8")) }
  var multivariant: String { media.path(media.beside("_master.m3u8")) }
  func segment(_ number: Int) -> String {
    media.path(media.beside("_captions" + SegmentNames.numbered(number) + ".vtt"))
  }

  /// - Parameter bits: a second, at most.
  func multivariantText(bits: Int) -> String {
    func uri(_ path: String) -> String { MediaPlaylist.uri((path as NSString).lastPathComponent) }
    return """
      #EXTM3U
      #EXT-X-VERSION:4
      #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="Captions",DEFAULT=YES,AUTOSELECT=YES,URI="\(uri(playlist))"
      #EXT-X-STREAM-INF:BANDWIDTH=\(bits),SUBTITLES="captions"
      \(uri(media.playlist))

      """
  }
}
