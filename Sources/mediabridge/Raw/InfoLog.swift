import Egress
import Foundation
import MediaBridge
import MediaCore

/// What `--info` gets: a JSON object on a line for each frame and for what happens around it.
final class InfoLog: Sendable {
  private static let limit = 8_000_000
  private let output: RawOutput

  init(_ sink: any RawSink) {
    output = RawOutput(sink, limits: .init(bytes: Self.limit)) { _, _ in }
  }

  func tell(_ event: String, _ fields: InfoFields) {
    let line = Self.line(fields.merging(["event": event]) { $1 }) + "\n"
    output.put(RawPiece(.bytes(Array(line.utf8)), made: .now))
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
    }
  }

  /// Who speaks.
  func note(_ event: RoomEvent) {
    guard case .speakingChanged(let participant, let isSpeaking) = event else { return }
    tell("speaking", ["participant": participant.identity ?? "", "speaking": isSpeaking])
  }

  func finish() async { await output.finish(within: .seconds(1)) }
}
