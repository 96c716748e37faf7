import MediaBridge
import MediaCore
import PipelineTemplates

/// A job that has begun, and where it goes.
struct JobRun: Sendable {
  let job: Job
  /// Those that have ended, too.
  var destinations: [RecordedDestination]
  /// Who is asked for keyframes.
  let video: Locked<IncomingMedia?>
  var tasks: [Task<Void, Never>] = []
  /// Why outputs could not give somebody a track of their own, and when that was tried.
  private var refusals: [ObjectIdentifier: (error: LiveKitError, at: MediaTime)] = [:]

  init(job: Job, destinations: [RecordedDestination], video: Locked<IncomingMedia?>) {
    (self.job, self.destinations, self.video) = (job, destinations, video)
  }

  /// Whether it has got its first moment.
  var isActive: Bool { job.media.origin != nil }

  /// Those that media goes to.
  var outputs: [JobDestination] { destinations.compactMap { $0.isOpen ? $0.output : nil } }

  /// Servers and windows that nothing goes to any more, so that they may be had again.
  var endedAddresses: [Destination] {
    let all = destinations.filter { !$0.target.destination.isFile }
    let open = all.filter(\.isOpen).map(\.target.destination)
    return all.map(\.target.destination).filter { !open.contains($0) }
  }

  func has(_ kind: Track.Kind) -> Bool { outputs.contains { $0.has(kind) } }

  /// Whether all that have it store it as it was sent.
  func isPassthrough(_ kind: Track.Kind) -> Bool { !outputs.contains { $0.has(kind) && $0.isRaw(kind) } }

  /// Why a kind goes nowhere; nil where an output takes it.
  func refusal(of kind: Track.Kind) -> LiveKitError? {
    let planners = outputs.map(\.planner)
    guard !planners.isEmpty, !planners.contains(where: { $0.kinds.contains(kind) }) else { return nil }
    let names = Set(planners.map(\.template.description)).sorted()
    return LiveKitError(
      .invalidParameter,
      "\(names.joined(separator: " and ")) \(names.count > 1 ? "take" : "takes") no \(kind); a file such as .mkv or .mp4, "
        + "instead of it or beside it, holds that")
  }

  /// Frames or blocks of audio that came for one of them.
  func written(_ kind: Track.Kind) -> Int {
    destinations.compactMap { $0.output?.lines.written(OutputInput(kind), job.media) }.max() ?? 0
  }

  /// Why nothing can be written any more; nil while something can.
  var failure: LiveKitError? {
    destinations.contains { $0.failure == nil && $0.ending == nil }
      ? nil : destinations.lazy.compactMap(\.failure).first
  }

  /// Why not all that was asked for is written; nil where it is.
  var lack: LiveKitError? {
    LiveKitError.joined(destinations.compactMap(\.failure))
  }

  /// Has each output go on with video in another codec where it stores it as it is sent.
  /// - Returns: what changes.
  /// - Throws: why the only one cannot; of several that one fails. Why some cannot encode spatial layers.
  mutating func follow(
    _ media: IncomingMedia, _ publication: RemoteTrackPublication
  ) throws(LiveKitError) -> [CodecChange] {
    var (changes, refusals) = ([CodecChange](), [(destination: Destination, error: LiveKitError)]())
    let isOnly = outputs.count == 1
    for index in destinations.indices {
      do throws(LiveKitError) {
        if let change = try destinations[index].follow(media, publication, job) { changes.append(change) }
      } catch {
        if isOnly { throw error }
        // In the codec that it holds it goes on as it is sent.
        guard destinations[index].heldCodec == media.codec else {
          destinations[index].output?.fail(error)
          continue
        }
        refusals.append((destinations[index].target.destination, error))
      }
    }
    if let refusal = Self.refusal(of: refusals) { throw refusal }
    return changes
  }

  /// What destinations say, each with its name; nil where none does.
  static func refusal(of refusals: [(destination: Destination, error: LiveKitError)]) -> LiveKitError? {
    LiveKitError.joined(refusals.map { $0.error.about($0.destination) })
  }

  /// Has all begin with audio, where the frame does not come that they were to begin with: what stores it as it is sent
  /// encodes black in its place. An output that cannot waits for the frame.
  /// - Parameter size: as the video was published.
  func beginWithAudio(_ size: Dimensions?) {
    for destination in destinations where destination.isOpen {
      guard let output = destination.output, let held = destination.heldCodec else { continue }
      try? job.encode(output, in: held, size: size)
    }
    job.media.beginWithAudio()
  }

  /// Has each output that takes them go on with a track of each voice. One that cannot goes on as it is, and is asked again.
  /// - Returns: why one is in the mix alone, by the voice's number.
  mutating func give(_ voices: [Voice], at now: MediaTime) -> [Int: String] {
    for output in outputs where refusals[ObjectIdentifier(output)].map({ now - $0.at >= Self.patience }) ?? true {
      refusals[ObjectIdentifier(output)] = nil
      do throws(LiveKitError) { try job.give(output, voices) } catch {
        refusals[ObjectIdentifier(output)] = (error, now)
      }
    }
    var lacks: [Int: String] = [:]
    for output in outputs {
      guard let refusal = refusals[ObjectIdentifier(output)] else { continue }
      let numbers = Set(voices.map(\.number)).subtracting(output.plan.voices.map(\.number))
      for number in numbers { lacks[number] = "it has no track of its own: \(refusal.error.message)" }
    }
    return lacks
  }
  /// From one try to begin another part to the next.
  private static let patience = Duration.seconds(5)

  /// Completes what was written of those that cannot go on, or whose window was closed.
  /// - Returns: whether there were some.
  mutating func endWhatFailed() -> Bool {
    var hasEnded = false
    for index in destinations.indices {
      guard destinations[index].isOpen, let output = destinations[index].output else { continue }
      if output.isClosed, outputs.count == 1 {
        output.fail(LiveKitError(.cancelled, "it was closed, and nothing else was written"))
      }
      guard output.failure != nil || output.isClosed else { continue }
      destinations[index].ending = job.end(output)
      hasEnded = true
    }
    return hasEnded
  }

  /// Whether some are in another state than was told.
  var hasNews: Bool { destinations.contains { $0.told != $0.news(job) } }

  /// The destinations that are in another state than was told.
  mutating func changes(_ progress: OutputProgress) -> [DestinationStatus] {
    var changed: [DestinationStatus] = []
    for (index, var status) in progress.destinations.enumerated() where destinations[index].told != .init(status) {
      destinations[index].tell(&status)
      changed.append(status)
    }
    return changed
  }

  /// Ends what keeps it going.
  func stop() async {
    for task in tasks {
      task.cancel()
      await task.value
    }
  }

  /// Completes and closes all that is written.
  /// - Parameter time: until when it is to last where nothing comes any more.
  func finish(at time: MediaTime) async {
    // A file without a moment would be no recording.
    if !isActive { for destination in destinations { destination.output?.abandon() } }
    await job.finish(at: time)
    for destination in destinations { await destination.ending?.value }
  }

  /// How far it is.
  /// - Parameter tracks: as they were received.
  func progress(_ tracks: [RecordedTracks.Received], _ omissions: [Omission]) -> OutputProgress {
    OutputProgress(
      destinations: destinations.map { $0.status(job, tracks) }, omissions: omissions, isPaused: job.media.isPaused)
  }
}
