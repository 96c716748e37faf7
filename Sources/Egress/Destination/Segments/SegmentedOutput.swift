import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import PipelineTemplates

/// Cuts what a template hands out at its appsink `segments` into files, and lists them in playlists.
///
/// `@unchecked Sendable`: `work` is touched by the pipeline's streaming thread, and once that has stopped by whoever ends it;
/// another output takes it over after that, and before its own pipeline starts. The rest lies in `Locked` values.
final class SegmentedOutput: @unchecked Sendable {
  /// What others see of it.
  private struct Figures {
    var files: [String] = []
    var all: [String] = []
    var bytes: Int64 = 0
    var length: Duration?
  }

  let clock: OutputClock
  private let onFailure: @Sendable (LiveKitError) -> Void
  private let figures = Locked(Figures())
  private var work: any SegmentedWork
  private var isBroken = false
  private let options: SegmentOptions
  private let hasVideo: Bool
  /// What is said beside it; nil for none.
  let captions: SegmentCaptions?
  /// Whose files it goes on with; nil where it begins.
  private let before: SegmentedOutput?
  /// Who goes on with these files.
  private let successor = Locked<ObjectIdentifier?>(nil)

  /// - Parameters:
  ///   - before: whose playlist it goes on with, after the end of that; nil for one of its own.
  ///   - claim: of the playlist.
  ///   - clock: to be told when it begins.
  ///   - hasVideo: whether segments begin with keyframes.
  ///   - onFailure: told once why nothing is written any more, on the streaming thread.
  /// - Returns: nil where the template writes by itself.
  /// - Throws: segments cannot go there.
  init?(
    _ plan: OutputPlan, at destination: Destination, after before: SegmentedOutput? = nil, claim: FileClaim?,
    clock: OutputClock, hasVideo: Bool, onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) {
    guard let options = plan.segments else { return nil }
    guard let claim else {
      throw LiveKitError(.invalidParameter, "\(destination.shown): segments go into files: name one in a folder")
    }
    (self.clock, self.onFailure) = (clock, onFailure)
    (self.options, self.hasVideo, self.before) = (options, hasVideo, before)
    let names = try SegmentNames(destination, options)
    FileClaim.note(names)
    captions =
      if let before { before.captions } else { options.hasCaptions ? try SegmentCaptions(names, options) : nil }
    let live =
      before == nil ? try names.live.map { (path) throws(LiveKitError) in try SegmentPlaylists.Live(path) } : nil
    work =
      options.imageInterval == nil
      ? SegmentWork(names, options, claim, live: live, clock, hasVideo: hasVideo, captions)
      : ImageWork(names, options, claim, clock)
    if let before {
      guard before.options.canResume(as: options) else { throw Self.anotherPlaylist(destination) }
      before.successor.withLock { $0 = ObjectIdentifier(self) }
    } else {
      // What old playlists list is going to be replaced; where something is refused above, they stay.
      try claim.empty()
      try captions?.empty()
    }
  }

  private static func anotherPlaylist(_ destination: Destination) -> LiveKitError {
    LiveKitError(
      .invalidParameter,
      "\(destination.shown): a playlist that is written cannot become another one, or get longer segments; that takes a "
        + "destination of its own")
  }

  /// Whether another output goes on with its files.
  var isContinued: Bool { successor.withLock { $0 != nil } }

  /// Goes on with the files of the one before, which has ended. Its own pipeline does not run yet.
  func takeOver() {
    guard let before else { return }
    work = before.work
    work.resume(options, clock, hasVideo: hasVideo)
    show()
    before.figures.withLock { $0 = Figures(length: .zero) }
  }

  /// It does not go on with the files of the one before.
  func abandon() {
    before?.successor.withLock { if $0 == ObjectIdentifier(self) { $0 = nil } }
  }

  /// Takes what the multiplexer made; on the streaming thread.
  func take(_ media: MediaBuffer) {
    guard !isBroken else { return }
    do throws(LiveKitError) {
      if try work.take(media) { show() }
    } catch {
      isBroken = true
      onFailure(error)
    }
  }

  /// Ends the last segment and the playlist. Nothing comes any more.
  /// - Throws: why it is not complete.
  func finish() throws(LiveKitError) {
    defer { show() }
    if isContinued, !isBroken { return try work.pause() }
    try work.finish(isBroken: isBroken)
  }

  private func show() {
    let now = Figures(
      files: work.files, all: work.all, bytes: work.bytes, length: work.length)
    figures.withLock { $0 = now }
  }

  /// Paths of the segments that are complete and still there, in their order.
  var files: [String] { figures.withLock { $0.files } }
  /// Paths of what goes in front of segments, in files of their own, and then of those.
  var all: [String] { figures.withLock { $0.all } }
  /// Of the segments that are complete.
  var bytes: Int64 { figures.withLock { $0.bytes } }
  /// Of the segments that are complete; nil where none lasts.
  var length: Duration? { figures.withLock { $0.length } }
}

/// What becomes of what comes out at an appsink `segments`.
protocol SegmentedWork {
  /// Paths of what is complete and still there.
  var files: [String] { get }
  /// Paths of what goes in front of them, as far as it is written, and then of those.
  var all: [String] { get }
  /// Of what is complete, also of what has gone.
  var bytes: Int64 { get }
  /// Of what is complete, also of what has gone; nil where it does not last.
  var length: Duration? { get }
  /// - Returns: whether something was completed.
  mutating func take(_ media: MediaBuffer) throws(LiveKitError) -> Bool
  /// - Parameter isBroken: whether what is written cannot be completed.
  mutating func finish(isBroken: Bool) throws(LiveKitError)
  /// Ends what is written, and is to go on.
  mutating func pause() throws(LiveKitError)
  /// What comes from now on is of another pipeline.
  mutating func resume(_ options: SegmentOptions, _ clock: OutputClock, hasVideo: Bool)
}

extension SegmentedWork {
  var all: [String] { files }
}

/// What the files of a destination are called.
struct SegmentNames: Sendable {
  let playlist: String
  /// Of the live playlist beside it; nil where there is none.
  let live: String?
  /// What the destination's name ends in; nil where it has no such end.
  let ending: String?
  private let hasCaptions: Bool
  private let isOfImages: Bool
  private let suffix: SegmentOptions.Suffix
  private let folder: String
  private let stem: String

  /// - Throws: two of them have the same name.
  init(_ destination: Destination, _ options: SegmentOptions) throws(LiveKitError) {
    let url = URL(fileURLWithPath: destination.location)
    (playlist, stem) = (destination.location, url.deletingPathExtension().lastPathComponent)
    folder = (destination.location as NSString).deletingLastPathComponent
    ending = url.pathExtension.isEmpty ? nil : url.pathExtension
    (hasCaptions, isOfImages, suffix) = (options.hasCaptions, options.imageInterval != nil, options.suffix)
    let folder = folder
    live = options.livePlaylist.map { (folder as NSString).appendingPathComponent($0) }
    guard options.livePlaylist == url.lastPathComponent else { return }
    throw LiveKitError(
      .invalidParameter, "\(destination.shown): `live-playlist` names the same file; give it another name")
  }

  func path(_ name: String) -> String { (folder as NSString).appendingPathComponent(name) }
  /// - Parameter date: when it begins.
  func segment(_ number: Int, at date: Date, _ ending: String) -> String {
    let suffix = suffix == .timestamp ? "_" + FileNameValues.utc(date) : Self.numbered(number)
    return stem + suffix + "." + ending
  }
  static func numbered(_ number: Int) -> String { "_" + String(format: "%05d", number) }
  func beside(_ ending: String) -> String { stem + ending }
  /// What goes in front of segments of fragmented MP4, of which there is another with each pipeline.
  func initialization(_ number: Int) -> String { "\(stem)_init\(number > 1 ? "-\(number)" : "").mp4" }

  /// The path of a file that would be replaced besides the destination's own; nil where there is none.
  /// - Parameter isLater: whether it was written before, beside which this goes: the live playlist goes on.
  func occupied(isLater: Bool) -> String? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
    return names.filter { isOwn($0) && !(isLater && isLive($0)) }.sorted().map(path).first { path in
      (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int != 0
    }
  }

  private func isLive(_ name: String) -> Bool { live.map { ($0 as NSString).lastPathComponent == name } ?? false }

  /// Whether a file of that name is or will be written besides the destination's own.
  private func isOwn(_ name: String) -> Bool { isBeside(name) || !isOfImages && isLive(name) }

  /// The same without the live playlist, which several may have after each other.
  func isBeside(_ name: String) -> Bool {
    if !isOfImages, name == initialization(1) { return true }
    if hasCaptions {
      let captions = stem + "_captions"
      if name == captions + ".m3u8" || name == beside("_master.m3u8") { return true }
      if Self.ending(of: name, numberedBehind: captions) == "vtt" { return true }
    }
    guard let found = Self.ending(of: name, numberedBehind: stem) else { return false }
    return !isOfImages || found == (ending ?? "jpeg")
  }

  /// What a name ends in that has a number or a time behind a word; nil for others.
  private static func ending(of name: String, numberedBehind word: String) -> String? {
    guard name.hasPrefix(word + "_") else { return nil }
    let rest = name.dropFirst(word.count + 1).split(separator: ".")
    guard rest.count == 2, rest[0].count >= 5, rest[0].allSatisfy(\.isWholeNumber) else { return nil }
    return String(rest[1])
  }
}
