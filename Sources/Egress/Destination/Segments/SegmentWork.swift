import Foundation
import GStreamerKit
import MediaBridge
import MediaCore

/// The files that a segmented output writes, one after the other, and the playlists that list them.
struct SegmentWork: SegmentedWork {
  private let names: SegmentNames
  private let options: SegmentOptions
  private let claim: FileClaim
  private var hasVideo: Bool
  private var clock: OutputClock
  private var format: (any SegmentFormat)?
  private var cutter: SegmentCutter
  private var playlist: MediaPlaylist?
  private var live: MediaPlaylist?
  private var file: SegmentFile?
  /// The time of day at the output's beginning.
  private var epoch: Date?
  private var count = 0
  /// Whether something is in front of the segments already, where their format asks for it.
  private var hasBegun = false

  private(set) var initializations: [String] = []
  private(set) var files: [String] = []
  private(set) var bytes: Int64 = 0
  private(set) var length: Duration? = .zero

  init(_ names: SegmentNames, _ options: SegmentOptions, _ claim: FileClaim, _ clock: OutputClock, hasVideo: Bool) {
    (self.names, self.options, self.claim, self.clock, self.hasVideo) = (names, options, claim, clock, hasVideo)
    cutter = SegmentCutter(options.duration)
  }

  mutating func take(_ media: MediaBuffer) throws(LiveKitError) -> Bool {
    if format == nil { format = try format(of: media.caps.mediaType) }
    let time = media.pts.map { Duration.nanoseconds($0.nanoseconds) }
    let piece = media.withUnsafeBytes { format?.take($0, at: time) }
    guard let piece, piece != .apart else { return false }
    var cuts: [SegmentCutter.Cut] = []
    if case .frame(let time, let isKeyframe, let lasting) = piece {
      cuts = cutter.take(time, isKeyframe: isKeyframe, lasting: lasting)
      for cut in cuts { try end(cut) }
      try file?.beginFrame()
    }
    if file == nil { file = try begin() }
    media.withUnsafeBytes { file?.append($0) }
    return !cuts.isEmpty
  }

  private func format(of type: String) throws(LiveKitError) -> any SegmentFormat {
    switch type {
    case "video/mpegts": return TransportStream(hasVideo: hasVideo)
    case "video/quicktime", "audio/x-m4a": return FragmentedMP4(hasVideo: hasVideo)
    default:
      throw LiveKitError(
        .template, "its appsink `segments` gets \(type), which cannot be cut: video/mpegts and fragmented MP4 can")
    }
  }

  private mutating func begin() throws(LiveKitError) -> SegmentFile {
    if !hasBegun { try beginStream() }
    let file = try SegmentFile(names.path(names.segment(count, format?.ending ?? "")))
    file.append(format?.head() ?? [])
    return file
  }

  private mutating func beginStream() throws(LiveKitError) {
    hasBegun = true
    var name: String?
    if let initialization = format?.initialization {
      let own = names.initialization(initializations.count + 1)
      close(try WholeFile.write(initialization, to: names.path(own)))
      initializations.append(names.path(own))
      bytes += Int64(initialization.count)
      name = own
    }
    playlist?.goOn(initialization: name)
    live?.goOn(initialization: name)
  }

  /// Completes the segment that is written, and lists it.
  private mutating func end(_ cut: SegmentCutter.Cut) throws(LiveKitError) {
    guard let file else { return }
    let frame = cut.isBeforeLastFrame ? file.takeFrame() : []
    try file.flush()
    self.file = nil
    let epoch = epoch ?? clock.date()
    self.epoch = epoch
    let date = epoch.addingTimeInterval(cut.begin / .seconds(1))
    let name = names.segment(count, format?.ending ?? "")
    count += 1
    files.append(file.path)
    (bytes, length) = (bytes + Int64(file.count), length.map { $0 + cut.duration })
    try list(MediaPlaylist.Segment(name: name, duration: cut.duration, date: date))
    deleteOld()
    guard !frame.isEmpty else { return }
    self.file = try begin()
    self.file?.append(frame)
  }

  private mutating func list(_ segment: MediaPlaylist.Segment) throws(LiveKitError) {
    var lists = (playlist ?? makePlaylist(options.playlist), live ?? makePlaylist(.live(options.liveSegments)))
    lists.0.append(segment)
    lists.1.append(segment)
    (playlist, live) = lists
    try writePlaylists(isOver: false)
  }

  private func makePlaylist(_ kind: MediaPlaylist.Kind) -> MediaPlaylist {
    MediaPlaylist(
      kind, targetDuration: cutter.targetDuration,
      initialization: initializations.last.map { ($0 as NSString).lastPathComponent })
  }

  private func writePlaylists(isOver: Bool) throws(LiveKitError) {
    guard let playlist, let live else { return }
    try claim.replace(with: Array(playlist.text(isOver: isOver).utf8))
    guard let path = names.live else { return }
    close(try WholeFile.write(Array(live.text(isOver: isOver).utf8), to: path))
  }

  /// A segment that is not listed any more is still played for as long as the playlist lasts in which it was (RFC 8216,
  /// 6.2.2).
  private mutating func deleteOld() {
    guard options.deletesSegments, let playlist else { return }
    while files.count > 2 * playlist.listed + 1 { unlink(files.removeFirst()) }
  }

  /// A last segment that cannot be completed goes, which makes room for the playlist's end.
  mutating func finish(isBroken: Bool) throws(LiveKitError) {
    let failure = endLast(isBroken: isBroken)
    try writePlaylists(isOver: true)
    if let failure { throw failure }
  }

  private mutating func endLast(isBroken: Bool) -> LiveKitError? {
    var failure: LiveKitError?
    if !isBroken, let rest = cutter.rest {
      do { try end(rest) } catch { failure = error }
    }
    if let file { unlink(file.path) }
    file = nil
    return failure
  }

  mutating func pause() throws(LiveKitError) { if let failure = endLast(isBroken: false) { throw failure } }

  mutating func goOn(_ options: SegmentOptions, _ clock: OutputClock, hasVideo: Bool) {
    (self.clock, self.hasVideo) = (clock, hasVideo)
    (format, file, epoch, hasBegun) = (nil, nil, nil, false)
    cutter = SegmentCutter(options.duration)
  }
}
