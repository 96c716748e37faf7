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
    var object: [String: Any] = fields
    object["event"] = event
    guard
      let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    else { return }
    let line = PrintableText(json: String(decoding: data, as: UTF8.self)).description + "\n"
    output.put(RawPiece(.bytes(Array(line.utf8)), made: .now))
  }

  /// What it says of a frame or of samples when they go to the reader, or do not.
  func tell(_ fate: RawOutput.Fate, of event: String, _ fields: InfoFields) {
    switch fate {
    case .written(let number): tell(event, fields.merging(["number": number]) { $1 })
    case .dropped: tell("dropped", fields)
    }
  }

  func finish() async { await output.finish(within: .seconds(1)) }
}
