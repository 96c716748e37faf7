import Foundation
import MediaBridge
import MediaCore

/// What a command tells: one live line for people, JSON lines for machines. Errors go to standard error.
struct Console: Sendable {
  let isJSON: Bool
  /// The one of several jobs that this is said of: in front of each line, and in each event.
  var job: String?
  /// Where the live lines of several jobs come together.
  var lives: Locked<[String: String]>?
  /// Whether what goes wrong before a room is joined may be a mistake of the command line: that of `run` only names a
  /// file, and `pipelines` looks for mistakes of templates.
  var judgesCommandLine = false

  private var prefix: String { job.map { "\($0): " } ?? "" }

  /// What speaks of options of `record`, said of keys to whoever has written a file of jobs.
  private func inWords(_ text: String) -> String { job == nil ? text : RunPlaces.inWords(text, RunKind.allKeys) }

  /// A line that stays.
  func say(_ text: String) {
    if !isJSON { Terminal.shared.say(PrintableText(prefix + inWords(text))) }
  }

  /// A line that stays, on a terminal as much of it as one holds: no name pushes the others out of sight.
  func head(_ text: String) {
    if !isJSON { Terminal.shared.say(PrintableText(text), isFitted: true) }
  }

  /// The live line; only on a terminal.
  func live(_ text: String) {
    guard !isJSON else { return }
    guard let job, let lives else { return Terminal.shared.showLive(PrintableText(text)) }
    let all = lives.withLock { lives in
      lives[job] = text
      return lives.sorted { $0.key < $1.key }
    }
    Terminal.shared.showLive(PrintableText(all.map { "\($0.key): \($0.value)" }.joined(separator: " | ")))
  }

  /// Has no live line any more.
  func endLive() {
    guard let job, let lives else { return Terminal.shared.endLive() }
    lives.withLock { $0[job] = nil }
  }

  /// Empties a terminal's screen.
  /// - Returns: whether there is one.
  func clear() -> Bool { !isJSON && Terminal.shared.clearScreen() }

  /// How far it is, for machines; left out where it would wait for its reader, since the next one says more.
  func progress(_ fields: [String: Any]) { event("progress", fields, isPassing: true) }

  /// An event for machines.
  func event(_ name: String, _ fields: [String: Any] = [:], isPassing: Bool = false) {
    guard isJSON else { return }
    var object = fields.merging(["event": name]) { _, name in name }
    if let job { object["job"] = job }
    guard
      let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    else { return }
    Terminal.shared.say(PrintableText(json: String(decoding: data, as: UTF8.self)), isPassing: isPassing)
  }

  /// Says what went wrong, in one line.
  func fail(_ error: any Error) {
    if judgesCommandLine { CommandCourse.note(error) }
    let incomplete = error as? IncompleteRecording
    let code = (incomplete?.reason ?? error as? LiveKitError)?.code.rawValue ?? "other"
    let message = inWords("\(error)")
    event("failed", ["message": message, "code": code].merging(incomplete?.fields ?? [:]) { $1 })
    if lives == nil { Terminal.shared.endLive() }
    Terminal.shared.warn(PrintableText("mediabridge: \(prefix)\(message)"))
  }
}

/// Numbers as people read them.
enum Format {
  static func duration(_ duration: Duration) -> String {
    let tenths = Int((Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18) * 10)
    return String(format: "%02d:%02d:%02d.%d", tenths / 36000, tenths / 600 % 60, tenths / 10 % 60, tenths % 10)
  }

  static func bytes(_ count: Int64) -> String {
    switch count {
    case ..<1000: "\(count) B"
    case ..<1_000_000: String(format: "%.1f kB", Double(count) / 1e3)
    case ..<1_000_000_000: String(format: "%.1f MB", Double(count) / 1e6)
    default: String(format: "%.2f GB", Double(count) / 1e9)
    }
  }

  static func seconds(_ duration: Duration) -> Double {
    let value = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    return (value * 1000).rounded() / 1000
  }
}
