import MediaBridge
import MediaCore
import PipelineTemplates

/// What is said, in the files of a destination and beside them: each part gets what is in it.
final class DestinationCaptions: Sendable {
  /// What a destination begins with.
  struct Start: Sendable {
    /// Nil where it lies beside segments.
    var place: CaptionPlace?
    /// Beside its first file; nil where it lies beside segments.
    var file: CaptionFile?
  }

  /// A cue, and whether text without marks says whose it is.
  private struct Waiting {
    var cue: CaptionCue
    let naming: Bool

    /// Whether it is known in which parts it is. What is longer to be read may reach over the end of one.
    func isDue(at reached: Duration) -> Bool { min(cue.end, cue.start + .seconds(1)) <= reached }
  }

  private struct Part {
    let stage: OutputStage
    let file: CaptionFile?
  }

  /// What came when its part was complete.
  private struct Late {
    var cues = 0
    /// Where nothing else holds it.
    var failure: LiveKitError?
  }

  private let place: CaptionPlace?
  private let parts = Locked<[Part]>([])
  private let waiting = Locked<[Waiting]>([])
  private let late = Locked(Late())

  /// - Parameter place: nil where it lies beside segments.
  init(_ place: CaptionPlace?) { self.place = place }

  /// Takes the file of the next part.
  func claim(beside destination: Destination) throws(LiveKitError) -> CaptionFile? {
    try place?.claim(beside: destination)
  }

  /// Whether there is one already.
  func isTaken(beside destination: Destination) -> Bool {
    place.map { FileClaim.isThere($0.path(beside: destination)) } ?? false
  }

  func add(_ file: CaptionFile?, of stage: OutputStage) {
    parts.withLock { $0.append(Part(stage: stage, file: file)) }
  }

  /// Takes a cue, which waits until it is known in which parts it is.
  /// - Parameters:
  ///   - cue: with times of the job.
  ///   - naming: whether text without marks says whose it is.
  func add(_ cue: CaptionCue, naming: Bool) { waiting.withLock { $0.append(Waiting(cue: cue, naming: naming)) } }

  /// Makes files of what has begun, so that they are there before something is said, and brings each cue into the parts in
  /// which it is.
  /// - Parameters:
  ///   - reached: how far the destination is; nil at its end.
  ///   - oldest: when what is still said began; nil where nothing is.
  ///   - end: of the media, which no cue makes longer; nil while it goes on.
  func advance(to reached: Duration?, oldest: Duration? = nil, end: Duration? = nil) {
    let begun = begun
    for part in begun { part.file?.begin() }
    let due = waiting.withLock { waiting in
      let due = waiting.filter { each in reached.map(each.isDue) ?? true }
      waiting.removeAll { each in reached.map(each.isDue) ?? true }
      return due
    }
    for var each in due {
      if let end { each.cue = each.cue.within(end) }
      write(each, begun)
    }
    if let reached { releaseWhole(begun, before: min(reached - Self.latest, oldest ?? reached)) }
  }

  /// Each holds a descriptor, and parts may be many.
  /// - Parameter time: nothing is said any more that began before it.
  private func releaseWhole(_ begun: [Part], before time: Duration) {
    for (part, next) in zip(begun, begun.dropFirst()) {
      if let end = next.stage.beginning, end < time { part.file?.release() }
    }
  }
  /// What begins to be said later is not of so long ago.
  private static let latest = Captions.longestAgo + .seconds(5)

  private func write(_ waiting: Waiting, _ begun: [Part]) {
    for (index, part) in begun.enumerated() {
      let end = index + 1 < begun.count ? begun[index + 1].stage.beginning : nil
      guard let own = waiting.cue.part(from: part.stage.beginning ?? .zero, to: end) else { continue }
      part.file?.add(own)
      if !part.stage.write(own, naming: waiting.naming) { noteLate(in: part) }
    }
  }

  /// What is said at the end of a part is known only later.
  private func noteLate(in part: Part) {
    late.withLock { late in
      late.cues += 1
      guard part.file == nil, late.failure == nil else { return }
      late.failure = LiveKitError(
        .output, "\(part.stage.destination.shown): what was said at its end came when it was complete, and is missing")
    }
  }

  /// Those that media has gone to.
  private var begun: [Part] { parts.withLock { $0 }.filter { $0.stage.beginning != nil } }

  /// Gives the files back; those of parts that have not begun go.
  func end() {
    for part in begun { part.file?.begin() }
    for part in parts.withLock({ $0 }) { part.file?.release() }
  }

  var status: CaptionStatus {
    var start = CaptionStatus()
    (start.lateCues, start.failure) = late.withLock { ($0.cues, $0.failure) }
    return begun.reduce(into: start) { status, part in
      if let beside = part.stage.segments?.captions, !status.files.contains(beside.files[0]) {
        status.files += beside.files
        status.cues += beside.count
      }
      guard let file = part.file else { return }
      status.files.append(file.path)
      status.cues += file.count
      status.failure = status.failure ?? file.failure
    }
  }
}
