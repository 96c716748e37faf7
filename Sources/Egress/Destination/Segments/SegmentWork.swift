import Foundation
import GStreamerKit
import MediaBridge
import MediaCore

/// The files that a segmented output writes, one after the other, and the playlists that list them.
struct SegmentWork: SegmentedWork {
  private let names: SegmentNames
  private var hasVideo: Bool
  private var clock: OutputClock
  private var format: (any SegmentFormat)?
  private var cutter: SegmentCutter
  private var playlists: SegmentPlaylists
  private let captions: SegmentCaptions?
  private var ledger = SegmentLedger()
  private var file: SegmentFile?
  /// Whether something is in front of the segments already, where their format asks for it.
  private var hasBegun = false

  var files: [String] { ledger.files }
  var all: [String] { ledger.all }
  var bytes: Int64 { ledger.bytes }
  var length: Duration? { ledger.length }

  /// - Parameters:
  ///   - live: of the live playlist; nil where there is none, or it comes from the work that this goes on with.
  ///   - captions: what is said beside it; nil for none.
  init(
    _ names: SegmentNames, _ options: SegmentOptions, _ claim: FileClaim, live: SegmentPlaylists.Live? = nil,
    _ clock: OutputClock, hasVideo: Bool, _ captions: SegmentCaptions? = nil
  ) {
    (self.names, self.clock, self.hasVideo, self.captions) = (names, clock, hasVideo, captions)
    playlists = SegmentPlaylists(options, claim, live: live)
    cutter = SegmentCutter(options.duration, hasVideo: hasVideo)
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
    if file == nil { file = try begin(at: cutter.begin ?? .zero) }
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

  private mutating func begin(at time: Duration) throws(LiveKitError) -> SegmentFile {
    if !hasBegun { try beginStream() }
    let date = clock.date(of: time)
    let file = try SegmentFile(names.path(names.segment(ledger.count, at: date, format?.ending ?? "")))
    file.append(format?.head() ?? [])
    return file
  }

  private mutating func beginStream() throws(LiveKitError) {
    hasBegun = true
    var name: String?
    if let initialization = format?.initialization {
      let own = names.initialization(ledger.initializations.count + 1)
      close(try WholeFile.write(initialization, to: names.path(own)))
      ledger.add(initialization: names.path(own), bytes: initialization.count)
      name = own
    }
    playlists.resume(initialization: name)
  }

  /// Completes the segment that is written, and lists it.
  private mutating func end(_ cut: SegmentCutter.Cut) throws(LiveKitError) {
    guard let file else { return }
    let frame = cut.isBeforeLastFrame ? file.takeFrame() : []
    try file.flush()
    self.file = nil
    let date = clock.date(of: cut.begin)
    let name = (file.path as NSString).lastPathComponent
    let segment = MediaPlaylist.Segment(name: name, duration: cut.duration, date: date)
    do throws(LiveKitError) {
      try playlists.list(
        segment, targetDuration: cutter.targetDuration, initialization: ledger.initializations.last)
    } catch {
      // Nobody finds what is not listed, and the playlist's end needs its room.
      unlink(file.path)
      throw error
    }
    ledger.add(segment: file.path, bytes: file.count, lasting: cut.duration)
    try captions?.end(
      segment, from: cut.begin, bytes: file.count, ticks: format?.ticks ?? 0, targetDuration: cutter.targetDuration)
    if let kept = playlists.kept {
      for path in ledger.takeOld(keeping: kept) { unlink(path) }
    }
    guard !frame.isEmpty else { return }
    self.file = try begin(at: cut.begin + cut.duration)
    self.file?.append(frame)
  }

  /// A last segment that cannot be completed goes, which makes room for the playlists' ends. One that cannot be ended
  /// keeps no other from its end.
  mutating func finish(isBroken: Bool) throws(LiveKitError) {
    var failure = endLast(isBroken: isBroken)
    do { try playlists.finish() } catch { failure = failure ?? error }
    do { try captions?.finish() } catch { failure = failure ?? error }
    if let failure { throw failure }
  }

  private mutating func endLast(isBroken: Bool) -> LiveKitError? {
    var failure: LiveKitError?
    // The end of what is heard says nothing of how long the last frame is seen.
    if !isBroken, let rest = cutter.rest(until: hasVideo ? nil : clock.end) {
      do { try end(rest) } catch { failure = error }
    }
    if let file { unlink(file.path) }
    file = nil
    return failure
  }

  mutating func pause() throws(LiveKitError) { if let failure = endLast(isBroken: false) { throw failure } }

  mutating func resume(_ options: SegmentOptions, _ clock: OutputClock, hasVideo: Bool) {
    (self.clock, self.hasVideo) = (clock, hasVideo)
    (format, file, hasBegun) = (nil, nil, false)
    captions?.resume()
    cutter = SegmentCutter(options.duration, hasVideo: hasVideo)
  }
}
