import Foundation
import MediaBridge

/// The playlists that list segments: that of all of them, and a live one beside it.
struct SegmentPlaylists {
  private let options: SegmentOptions
  private let claim: FileClaim
  private let live: Live?
  /// From the first segment on.
  private var all: MediaPlaylist?
  /// Of the live one, whether it is written or not.
  private var newest: MediaPlaylist?
  /// Whether the file of all holds what is listed, and no more: what comes can be added to it. Written anew for each
  /// segment, the playlist of a day would be more than its media.
  private var isInStep = false

  /// The live one, which nobody else writes meanwhile.
  struct Live {
    let path: String
    let claim: FileClaim
    /// How far it had come with the recording before; nil where it begins.
    let course: MediaPlaylist.Course?
    /// Bytes; what is larger is no live playlist.
    private static let most: Int64 = 16 << 20

    /// - Throws: it cannot be written, or another recording writes it.
    init(_ path: String) throws(LiveKitError) {
      let claim = try FileClaim.taken(path)
      course = try FileClaim.asking(path) { Self.course(in: path, claim) }
      (self.path, self.claim) = (path, claim)
    }

    private static func course(in path: String, _ claim: FileClaim) -> MediaPlaylist.Course? {
      guard let bytes = claim.bytes, bytes <= most else { return nil }
      let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
      return text.flatMap { MediaPlaylist.Course(of: $0) }
    }

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
    all?.resume(initialization: initialization)
    newest?.resume(initialization: initialization)
  }

  /// What cannot be written is not listed later, either.
  /// - Parameters:
  ///   - targetDuration: for lists that begin with it.
  ///   - initialization: the path of what is in front of it, for those too.
  mutating func list(
    _ segment: MediaPlaylist.Segment, targetDuration: Int, initialization: String?
  ) throws(LiveKitError) {
    func begin(_ kind: MediaPlaylist.Kind, after course: MediaPlaylist.Course? = nil) -> MediaPlaylist {
      MediaPlaylist(
        kind, targetDuration: targetDuration,
        initialization: initialization.map { ($0 as NSString).lastPathComponent }, after: course)
    }
    var newest = newest ?? begin(.live(options.liveSegments), after: live?.course)
    newest.append(segment)
    // Where that fails the file stays as it is: on a full disk its end alone needs room.
    let whole = try write(segment, behind: all ?? begin(options.playlist))
    // The segment that goes where the live one cannot be written has the list written anew.
    isInStep = false
    try live?.write(newest.text(isOver: false))
    if let whole { all = whole } else { all?.append(segment) }
    (self.newest, isInStep) = (newest, true)
  }

  /// Readers see the file without the segment, or with all that is said of it.
  /// - Parameter list: of all before it.
  /// - Returns: the list with it where that is written anew; nil where it is added.
  private func write(
    _ segment: MediaPlaylist.Segment, behind list: MediaPlaylist
  ) throws(LiveKitError) -> MediaPlaylist? {
    if isInStep, let addition = list.addition(of: segment) {
      try claim.append(Array(addition.utf8))
      return nil
    }
    var whole = list
    whole.append(segment)
    try claim.replace(with: Array(whole.text(isOver: false).utf8))
    return whole
  }

  /// Says that no more comes, in each of them that can be written, and lets others have the live one.
  mutating func finish() throws(LiveKitError) {
    defer { live?.claim.release() }
    guard let all, let newest else { return }
    var failure: LiveKitError?
    do { try end(all) } catch { failure = error }
    isInStep = false
    do { try live?.write(newest.text(isOver: true)) } catch { failure = failure ?? error }
    if let failure { throw failure }
  }

  private func end(_ all: MediaPlaylist) throws(LiveKitError) {
    if isInStep, let ending = all.ending {
      try claim.append(Array(ending.utf8))
    } else {
      try claim.replace(with: Array(all.text(isOver: true).utf8))
    }
  }

  /// How many of the newest segments stay; nil for all. One that is not listed any more is still played for as long as the
  /// playlist lasts in which it was (RFC 8216, 6.2.2).
  var kept: Int? {
    guard options.deletesSegments, let all else { return nil }
    return 2 * all.listed + 1
  }
}
