import Foundation
import MediaBridge

/// The playlists that list segments: that of all of them, and a live one beside it.
struct SegmentPlaylists {
  private let options: SegmentOptions
  private let claim: FileClaim
  private let live: Live?
  /// From the first segment on.
  private var lists: (all: MediaPlaylist, live: MediaPlaylist)?

  /// The live one, which nobody else writes meanwhile.
  struct Live {
    let path: String
    let claim: FileClaim

    /// - Throws: it cannot be written, or another recording writes it.
    init(_ path: String) throws(LiveKitError) { (self.path, claim) = (path, try FileClaim.taken(path)) }

    /// It is made again where somebody has removed it, which is no reason to end what it lists.
    fileprivate func write(_ text: String) throws(LiveKitError) {
      let bytes = Array(text.utf8)
      if claim.loss == nil { try claim.replace(with: bytes) } else { close(try WholeFile.write(bytes, to: path)) }
    }
  }

  /// - Parameters:
  ///   - claim: of the one of all.
  ///   - live: the other one; nil where there is none.
  init(_ options: SegmentOptions, _ claim: FileClaim, live: Live? = nil) {
    (self.options, self.claim, self.live) = (options, claim, live)
  }

  /// - Parameter initialization: what is in front of the next segments.
  mutating func resume(initialization: String?) {
    lists?.all.resume(initialization: initialization)
    lists?.live.resume(initialization: initialization)
  }

  /// What cannot be written is not listed later, either.
  /// - Parameters:
  ///   - targetDuration: for lists that begin with it.
  ///   - initialization: the path of what is in front of it, for those too.
  mutating func list(
    _ segment: MediaPlaylist.Segment, targetDuration: Int, initialization: String?
  ) throws(LiveKitError) {
    func begin(_ kind: MediaPlaylist.Kind) -> MediaPlaylist {
      MediaPlaylist(
        kind, targetDuration: targetDuration,
        initialization: initialization.map { ($0 as NSString).lastPathComponent })
    }
    var lists = lists ?? (begin(options.playlist), begin(.live(options.liveSegments)))
    lists.all.append(segment)
    lists.live.append(segment)
    try write(lists, isOver: false)
    self.lists = lists
  }

  /// Says that no more comes, and lets others have the live one.
  func finish() throws(LiveKitError) {
    defer { live?.claim.release() }
    if let lists { try write(lists, isOver: true) }
  }

  private func write(_ lists: (all: MediaPlaylist, live: MediaPlaylist), isOver: Bool) throws(LiveKitError) {
    try claim.replace(with: Array(lists.all.text(isOver: isOver).utf8))
    try live?.write(lists.live.text(isOver: isOver))
  }

  /// How many of the newest segments stay; nil for all. One that is not listed any more is still played for as long as the
  /// playlist lasts in which it was (RFC 8216, 6.2.2).
  var kept: Int? {
    guard options.deletesSegments, let lists else { return nil }
    return 2 * lists.all.listed + 1
  }
}
