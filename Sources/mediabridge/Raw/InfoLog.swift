import Egress
import Foundation
import MediaBridge
import MediaCore

/// What `--info` gets: a JSON object on a line for each frame and for what happens around it.
final class InfoLog: Sendable {
  private static let limit = 8_000_000
  private let output: RawOutput
  private let tally = RawTally()
  private let told = Locked(0)
  private let hasFailed = Locked(false)
  private let console: Console

  /// - Parameter console: is told when lines are missing.
  init(_ sink: any RawSink, _ console: Console) {
    self.console = console
    let say: @Sendable (String) -> Void = { [console] in console.tell(slowReader: $0) }
    output = RawOutput(sink, limits: .init(bytes: Self.limit), say: say) { $1.tally.note($0, $1) }
  }

  func tell(_ event: String, _ fields: InfoFields) {
    let line = Self.line(fields.merging(["event": event]) { $1 }) + "\n"
    told.withLock { $0 += 1 }
    output.put(RawPiece(.bytes(Array(line.utf8)), made: .now, note: RawNote(fields: [:], tally: tally)))
  }

  /// One JSON object, without the end of the line.
  static func line(_ fields: InfoFields) -> String {
    let data = try? JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys, .withoutEscapingSlashes])
    return PrintableText(json: String(decoding: data ?? Data("{}".utf8), as: UTF8.self)).description
  }

  /// What it says of a frame or of samples when they go to the reader, or do not.
  func tell(_ fate: RawOutput.Fate, of event: String, _ fields: InfoFields) {
    switch fate {
    case .written(let number): tell(event, fields.merging(["number": number]) { $1 })
    case .dropped: tell("dropped", fields)
    // Why the destination has failed is told.
    case .lost: break
    }
  }

  /// Who speaks.
  func note(_ event: RoomEvent) {
    guard case .speakingChanged(let participant, let isSpeaking) = event else { return }
    tell("speaking", ["participant": participant.identity ?? "", "speaking": isSpeaking])
  }

  /// Says once when nothing is written any more. Called several times a second.
  func tick() {
    guard let failure = output.failure, hasFailed.set(\.self, to: true) else { return }
    console.say("--info: \(failure.message); the media goes on without it.")
    console.event("info_failed", ["message": failure.message])
  }

  /// - Returns: why lines are missing; nil where all are there.
  func finish() async -> LiveKitError? {
    await output.finish(within: .seconds(1))
    let (written, dropped) = tally.counts
    if let failure = output.failure {
      // Of a reader that hangs the last line counts as written.
      let count = max(told.withLock { $0 } - written, 1)
      return LiveKitError(.output, "--info: \(failure.message); \(count) lines are missing", fault: .destination)
    }
    // What is told from now on belongs to no stream any more.
    guard dropped > 0 else { return nil }
    return LiveKitError(
      .output, "--info: \(output.name): \(dropped) lines were dropped because the \(output.taker) was too slow",
      fault: .destination)
  }
}

extension Console {
  /// - Parameter message: which one, and what becomes of what it does not take.
  func tell(slowReader message: String) {
    say("\(message).")
    event("reader_slow", ["message": message])
  }

  /// Says why nothing goes to a reader any more, where others go on.
  /// - Parameters:
  ///   - name: the reader's; nil for one that could not be opened.
  ///   - identity: whose media it was for, where it is that one's alone.
  func tell(endOf name: String?, of identity: String? = nil, _ failure: LiveKitError) {
    say("\(failure.message).")
    guard failure.code != .readerGone else { return event("reader_gone", ["message": failure.message]) }
    // As `record` tells of a destination that has failed.
    var fields: [String: Any] = ["state": "failed", "message": failure.message, "code": failure.code.rawValue]
    if let name { fields["file"] = name }
    if let identity { fields["participant"] = identity }
    event("destination", fields)
  }
}
