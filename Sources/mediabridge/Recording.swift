import Egress
import Foundation
import MediaBridge
import MediaCore
import PipelineTemplates

/// One recording from join to finished file, with what is told of it.
struct Recording {
  /// What ended it, in a word for machines.
  enum End: Sendable {
    case size
    case interrupted
    /// On standard input.
    case told
    case asked(RecordingOptions.Ending)
    /// The server has closed the room, since everybody has left, or somebody has ended it for all.
    case closed
    case failed(LiveKitError)

    var name: String {
      switch self {
      case .size: "size"
      case .interrupted: "interrupted"
      case .told: "told"
      case .asked(let ending): ending.rawValue
      case .closed: "room_closed"
      case .failed: "failed"
      }
    }
  }

  let console: Console
  let room: Room
  let source: any EgressJob
  let options: RecordingOptions
  /// Bytes, of all files together.
  var maxSize: Int64?
  let connectOptions: ConnectOptions
  private let destinations: Locked<[Destination]>
  private let interruption: Interruption
  /// What may be asked of it while it runs.
  let control: RecordingControl
  private let writesManifest: Bool
  private let onClose: @Sendable () async -> Void
  private let report: RecordingReport

  /// - Parameters:
  ///   - control: how lines of standard input are written that ask something of it; nil leaves them alone.
  ///   - writesManifest: whether there is to be one beside each file.
  ///   - completion: what is run for each file that is complete.
  ///   - interruption: what ends it besides.
  ///   - onClose: called when nothing more is written and the end is told, ahead of what is waited for that is run for each
  ///     file.
  init(
    console: Console, room: Room, source: any EgressJob, options: RecordingOptions,
    maxSize: Int64? = nil, connectOptions: ConnectOptions = ConnectOptions(), control: ControlRequest.Form? = nil,
    writesManifest: Bool = false, completion: CompletionCommand? = nil,
    interruption: Interruption = Interruption(), onClose: @escaping @Sendable () async -> Void = {}
  ) {
    (self.console, self.room, self.source, self.options) = (console, room, source, options)
    (self.maxSize, self.connectOptions) = (maxSize, connectOptions)
    (self.writesManifest, self.interruption, self.onClose) = (writesManifest, interruption, onClose)
    let destinations = Locked(options.destinations.map { Destination(location: $0.location, output: $0.output) })
    self.destinations = destinations
    report = RecordingReport(
      console: console, options: options, destinations: destinations,
      files: CompletedFiles(console: console, command: completion), isGroup: source is RecorderGroup)
    self.control = RecordingControl(
      console: console, source: source, interruption: interruption, form: control, destinations: destinations)
  }

  func run(url: String, token: String) async throws {
    let source = source
    let abandon: @Sendable () async -> Void = { _ = try? await source.finish() }
    try await console.join(url, interruption, abandon: abandon) {
      try await room.connectToReceive(url: url, token: token, connectOptions: connectOptions)
    }
    do { try await run() } catch {
      await room.disconnect()
      throw error
    }
    await room.disconnect()
  }

  /// In a room that is joined already, and which it does not leave.
  func run() async throws {
    let losses = console.tellLosses(of: room)
    defer { losses.cancel() }
    let asking = Task { [control] in await control.run() }
    defer { asking.cancel() }
    let telling = Task { [report, events = source.events] in for await event in events { report.tell(event) } }
    do {
      try await record(telling)
    } catch {
      _ = try? await source.finish()
      await telling.value
      throw error
    }
  }

  /// - Parameter telling: ends when all is told.
  private func record(_ telling: Task<Void, Never>) async throws {
    let handedOn = await handOnEach()
    try await start()
    let end = await follow()
    report.ends(with: end)
    // What came of each destination stands in the progress; what made them all, such as a mixer, may have failed besides.
    var unfinished: LiveKitError?
    do { _ = try await source.finish() } catch { unfinished = error }
    await telling.value
    let done = await source.progress()
    let failures = await handOn(done, handedOn)
    let loss = reason(of: end, done)
    report.finished(done, end.name, hasFailed: loss != nil)
    // Whoever takes the files over begins behind what is told of them.
    await onClose()
    let failure = await report.files.finish().first ?? failures.first
    if let loss { throw incomplete(loss, done) }
    if let lack = incomplete(done) { throw lack }
    if let unfinished { throw incomplete(unfinished, done) }
    let missing = done.omissions.filter(\.wasWanted)
    guard missing.isEmpty else { throw lacking(missing) }
    if let failure { throw failure }
  }

  /// What ended it for all destinations; nil where none of them failed, or each for itself.
  private func reason(of end: End, _ done: OutputProgress) -> LiveKitError? {
    guard case .failed(let reason) = end, !done.destinations.contains(where: { $0.failure == reason }) else {
      return nil
    }
    return reason
  }

  /// Has what comes of each of a group handed on once that is over: the group may go on for days, and be killed.
  /// - Returns: what goes wrong with that, in the end.
  private func handOnEach() async -> Locked<[LiveKitError]> {
    let failures = Locked([LiveKitError]())
    guard let group = source as? RecorderGroup else { return failures }
    await group.handOver { [report, writesManifest] done, manifests in
      let new = Self.handOn(done, writesManifest ? manifests : [], report)
      failures.withLock { $0 += new }
    }
    return failures
  }

  /// Hands on all that is complete.
  /// - Parameter handedOn: what went wrong with those of a group, each of which was handed on when it was over.
  /// - Returns: what went wrong.
  private func handOn(_ done: OutputProgress, _ handedOn: Locked<[LiveKitError]>) async -> [LiveKitError] {
    var failures = handedOn.withLock { $0 }
    if !(source is RecorderGroup) {
      let manifests = writesManifest ? await source.manifests : []
      failures += Self.handOn(done, manifests, report)
    }
    return failures
  }

  /// Writes the manifests, and has run what is to be run for each file that is complete, those the last.
  /// - Returns: what went wrong with that, all of which is said.
  private static func handOn(
    _ done: OutputProgress, _ manifests: [Manifest], _ report: RecordingReport
  ) -> [LiveKitError] {
    var failures = done.destinations.compactMap { $0.captions?.failure }
    var files: [String] = []
    for manifest in manifests {
      let written = manifest.writeAll()
      files += written.files
      failures += written.failures
    }
    for failure in failures { report.tell(notWritten: failure) }
    for status in done.destinations { report.files.note(status) }
    report.files.note(files)
    return failures
  }

  private func start() async throws {
    let source = source
    let starting = Task { try await source.start() }
    let watcher = Task { [interruption] in
      await interruption.wait(atMost: nil)
      if !Task.isCancelled { starting.cancel() }
    }
    defer { watcher.cancel() }
    do { try await starting.value } catch {
      guard let reason = room.disconnectError else { throw error }
      // A group says besides why those are not recorded who came.
      let said = (error as? LiveKitError).map(\.message) ?? ""
      let message = said.contains(reason.message) ? said : reason.message
      throw LiveKitError(reason.code, "\(name): \(message); nothing was recorded", underlying: reason)
    }
  }

  /// Tells how it goes until something ends it.
  private func follow() async -> End {
    var pace = Pace()
    var isPaused = false
    var forecast = maxSize.map { SizeForecast(limit: $0) }
    while true {
      let rest = await rest
      if rest <= .zero { return .asked(.durationReached) }
      // A pause may end at any time, and does not count.
      let isWatched = isPaused || maxSize != nil
      if await interruption.came(within: min(rest, isWatched ? .milliseconds(200) : .seconds(1))) {
        return control.isEnding.withLock { $0 } ? .told : .interrupted
      }
      let progress = await source.progress()
      isPaused = progress.isPaused
      report.progress(progress, &pace)
      if forecast?.isReached(after: progress.duration, written: progress.bytes) == true { return .size }
      if let failure = await source.failure { return .failed(failure) }
      if let ending = await source.ending { return end(after: ending) }
    }
  }

  /// A room that a server closes is no failure: that was all there was to record.
  private func end(after ending: RecordingOptions.Ending) -> End {
    ending == .roomEmpty && room.wasClosed ? .closed : .asked(ending)
  }

  /// How much of what is asked for is still to be recorded.
  private var rest: Duration {
    get async {
      guard let duration = options.duration else { return .seconds(3600) }
      return duration - (await source.elapsed)
    }
  }

  // MARK: What went wrong

  private var name: String { destinations.withLock { $0 }.map(\.shown).joined(separator: ", ") }

  /// What kept destinations from being complete, with how much each of them holds; nil where nothing did.
  private func incomplete(_ progress: OutputProgress) -> IncompleteRecording? {
    let failed = progress.destinations.filter { $0.failure != nil }
    guard let first = failed.first?.failure else { return nil }
    let message = failed.map(Self.lack).joined(separator: "; ")
    return IncompleteRecording(
      reason: LiveKitError(first.code, message, fault: first.fault, underlying: first), destinations: failed)
  }

  /// What ended the recording for all destinations, with how much they hold.
  private func incomplete(_ reason: LiveKitError, _ progress: OutputProgress) -> IncompleteRecording {
    let about = reason.message.contains(name) ? reason.message : "\(name): \(reason.message)"
    let (failed, ended) = (progress.destinations.filter { $0.failure != nil }, progress.destinations)
    let missing = progress.omissions.filter(\.wasWanted).map { "not in it: \($0)" }
    let lacks = ["\(about); \(Self.kept(ended.filter { $0.failure == nil }))"] + failed.map(Self.lack) + missing
    return IncompleteRecording(
      reason: LiveKitError(
        reason.code, lacks.joined(separator: "; "), fault: reason.fault, underlying: reason), destinations: ended)
  }

  private static func lack(_ status: DestinationStatus) -> String {
    "\(status.failure?.message ?? status.location); \(kept([status]))"
  }

  private static func kept(_ destinations: [DestinationStatus]) -> String {
    let place = destinations.allSatisfy(\.isFile) ? destinations.count > 1 ? "in the files" : "in the file" : "sent"
    let least = destinations.map(\.sent).min() ?? .zero
    let hasGaps = destinations.contains { ($0.stream?.away ?? .zero) > .zero || $0.missing != nil }
    let amount = hasGaps ? "\(Format.duration(least)) in all" : "the first \(Format.duration(least))"
    return least > .zero ? "\(amount) are \(place)" : "nothing is \(place)"
  }

  private func lacking(_ missing: [Omission]) -> LiveKitError {
    let list = missing.map(\.description).joined(separator: "; ")
    let holds =
      destinations.withLock { $0.count } > 1 ? "do not hold all that they were" : "does not hold all that it was"
    return LiveKitError(.noMedia, "\(name) \(holds) to: \(list)")
  }
}

/// A recording of which not all is there, with what is in the destinations that it is about.
struct IncompleteRecording: Error, CustomStringConvertible {
  let reason: LiveKitError
  let destinations: [DestinationStatus]

  var description: String { "\(reason)" }
  var fields: [String: Any] {
    guard let first = destinations.first else { return [:] }
    var fields: [String: Any] = ["duration": Format.seconds(first.duration), "bytes": first.bytes]
    if destinations.count > 1 { fields["destinations"] = destinations.map(\.fields) }
    return fields
  }
}

/// How fast a count grows, from one look to the next.
struct Pace {
  private var count = 0
  private var time = ContinuousClock.now

  mutating func rate(of newCount: Int) -> Double {
    let now = ContinuousClock.now
    let seconds = Format.seconds(now - time)
    defer { (count, time) = (newCount, now) }
    return seconds > 0 ? Double(max(0, newCount - count)) / seconds : 0
  }
}
