import Egress
import Foundation
import MediaBridge
import PipelineTemplates

/// One recording from join to finished file, with what is told of it.
struct Recording {
  /// What ended it, in a word for machines.
  enum End: Sendable {
    case duration
    case interrupted
    case asked(RecordingOptions.Ending)
    case failed(LiveKitError)

    var name: String {
      switch self {
      case .duration: "duration"
      case .interrupted: "interrupted"
      case .asked(let ending): ending.rawValue
      case .failed: "failed"
      }
    }
  }

  let console: Console
  let room: Room
  let source: any RecordingSource
  let options: RecordingOptions
  var duration: Duration?
  var connectOptions = ConnectOptions()

  func run(url: String, token: String) async throws {
    let interruption = Interruption()
    let source = source
    let abandon: @Sendable () async -> Void = { _ = try? await source.finish() }
    try await console.join(url, interruption, abandon: abandon) {
      try await room.connect(url: url, token: token, connectOptions: connectOptions)
    }
    console.tellLosses(of: room)
    do {
      try await record(until: interruption)
    } catch {
      _ = try? await source.finish()
      await room.disconnect()
      throw error
    }
    await room.disconnect()
  }

  private func record(until interruption: Interruption) async throws {
    try await start(interruption)
    let end = await follow(until: interruption)
    if case .asked(let ending) = end { report.ends(with: ending) }
    let reason: LiveKitError? = if case .failed(let reason) = end { reason } else { nil }
    let done: OutputProgress
    do { done = try await source.finish() } catch { throw incomplete(reason ?? error, await source.progress()) }
    if let reason { throw incomplete(reason, done) }
    report.finished(done, end.name)
    let missing = done.omissions.filter(\.wasWanted)
    guard missing.isEmpty else { throw lacking(missing) }
  }

  private var report: RecordingReport { RecordingReport(console: console, options: options, duration: duration) }

  private func start(_ interruption: Interruption) async throws {
    let (source, report) = (source, report)
    let starting = Task { try await source.start(telling: report) }
    let watcher = Task {
      await interruption.wait(atMost: nil)
      if !Task.isCancelled { starting.cancel() }
    }
    defer { watcher.cancel() }
    do { try await starting.value } catch {
      guard let reason = room.disconnectError else { throw error }
      throw LiveKitError(reason.code, "\(name): \(reason.message); nothing was recorded", underlying: reason)
    }
  }

  /// Tells how it goes until something ends it.
  private func follow(until interruption: Interruption) async -> End {
    let begun = ContinuousClock.now - (await source.elapsed)
    let deadline = duration.map { begun + $0 }
    var pace = Pace()
    while deadline.map({ ContinuousClock.now < $0 }) ?? true {
      if await interruption.came(within: nextPause(deadline)) { return .interrupted }
      report.progress(await source.progress(), &pace)
      if let failure = await source.failure { return .failed(failure) }
      if let ending = await source.ending { return .asked(ending) }
      if room.connectionState == .disconnected {
        return .failed(room.disconnectError ?? LiveKitError(.disconnected, "the connection to the room was lost"))
      }
    }
    return .duration
  }

  private func nextPause(_ deadline: ContinuousClock.Instant?) -> Duration {
    let rest = deadline.map { $0 - ContinuousClock.now } ?? .seconds(1)
    return max(.milliseconds(1), min(.seconds(1), rest))
  }

  // MARK: What went wrong

  private var destination: Destination { options.destination }
  private var name: String { destination.shown }

  /// The error with the file it is about and how much that holds.
  private func incomplete(_ known: LiveKitError, _ progress: OutputProgress) -> IncompleteRecording {
    let about = known.message.contains(name) ? known.message : "\(name): \(known.message)"
    let place = destination.isFile ? "in the file" : "sent"
    let kept =
      progress.duration > .zero
      ? "the first \(Format.duration(progress.duration)) are \(place)" : "nothing is \(place)"
    return IncompleteRecording(
      reason: LiveKitError(
        known.code, "\(about); \(kept)", fault: known.fault, underlying: known), progress: progress)
  }

  private func lacking(_ missing: [Omission]) -> LiveKitError {
    let list = missing.map(\.description).joined(separator: "; ")
    return LiveKitError(.noMedia, "\(name) does not hold all that it was to: \(list)")
  }
}

/// A recording that ended before it was to, with what is in its file.
struct IncompleteRecording: Error, CustomStringConvertible {
  let reason: LiveKitError
  let progress: OutputProgress

  var description: String { "\(reason)" }
  var fields: [String: Any] { ["duration": Format.seconds(progress.duration), "size": progress.bytes] }
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
