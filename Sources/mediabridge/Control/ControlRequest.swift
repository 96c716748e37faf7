import Egress
import Foundation
import MediaBridge
import PipelineTemplates

/// What a recording that runs is asked to do, on a line of standard input.
enum ControlRequest: Sendable {
  case add(OutputDestination)
  /// By its name, or as it is told of.
  case remove(String)
  case layout(CompositeLayout)
  /// One without text takes it away.
  case label(CompositeLabel)
  case pause
  case resume
  /// One or the other.
  case switchPause
  case end

  /// How lines are written.
  enum Form: Sendable {
    /// `+URL_OR_FILE`, `-URL_OR_FILE`, `l LAYOUT`, `t TEXT`, `p`, `q`.
    case words
    /// `{"command": "add", "location": "b.mkv"}`.
    case json
  }

  private static let words = "write +FILE_OR_URL, -FILE_OR_URL, l LAYOUT, t TEXT, p or q"
  private static let commands = "add, remove, layout, label, pause, resume or end"

  /// - Throws: what is wrong with the line, of which nothing is repeated: it may hold a stream key.
  init(words line: String) throws(LiveKitError) {
    let line = line.trimmingCharacters(in: .whitespaces)
    let rest = line.dropFirst().trimmingCharacters(in: .whitespaces)
    switch line.first {
    case "+" where !rest.isEmpty: self = .add(OutputDestination(Destination(argument: rest)))
    case "-" where !rest.isEmpty: self = .remove(Destination(argument: rest).location)
    case "l" where line.dropFirst().first?.isWhitespace ?? true: self = .layout(try CompositeLayout(argument: rest))
    case "t" where line.dropFirst().first?.isWhitespace ?? true: self = .label(CompositeLabel(rest))
    case "p" where rest.isEmpty: self = .switchPause
    case "q" where rest.isEmpty: self = .end
    default: throw LiveKitError(.invalidParameter, "that is no command; \(Self.words)")
    }
  }

  /// - Parameter object: of the line.
  /// - Throws: what is wrong with it.
  init(_ object: [String: Any]) throws(LiveKitError) {
    func text(_ name: String) throws(LiveKitError) -> String {
      guard let text = object[name] as? String, !text.isEmpty else {
        throw LiveKitError(.invalidParameter, "\"\(name)\" is missing, or is no text")
      }
      return text
    }
    let command = try text("command")
    try Self.checkKeys(of: object, for: command)
    switch command {
    case "add":
      let values = try Self.values(object["values"])
      self = .add(OutputDestination(Destination(argument: try text("location")), values: values))
    case "remove": self = .remove(Destination(argument: try text("location")).location)
    case "layout": self = .layout(try CompositeLayout(argument: try text("layout")))
    case "label": self = .label(try CompositeLabel(object))
    case "pause": self = .pause
    case "resume": self = .resume
    case "end": self = .end
    default: throw LiveKitError(.invalidParameter, "there is no such command; \"command\" is \(Self.commands)")
    }
  }

  /// What each takes besides `command` and `id`.
  private static let keys = [
    "add": ["location", "values"], "remove": ["location"], "layout": ["layout"],
    "label": ["text", "participant", "duration"], "pause": [], "resume": [], "end": [],
  ]

  /// One that is passed over would be missed later.
  private static func checkKeys(of object: [String: Any], for command: String) throws(LiveKitError) {
    guard let own = keys[command] else { return }
    let known = ["command", "id"] + own
    guard let unknown = object.keys.sorted().first(where: { !known.contains($0) }) else { return }
    let advice =
      NearestName.of(unknown, in: known).map { "did you mean \"\($0)\"?" }
      ?? "there are \(known.map { "\"\($0)\"" }.joined(separator: ", "))"
    throw LiveKitError(.invalidParameter, "\"\(command)\" takes no key of that name; \(advice)")
  }

  /// For machines.
  var name: String {
    switch self {
    case .add: "add"
    case .remove: "remove"
    case .layout: "layout"
    case .label: "label"
    case .pause, .switchPause: "pause"
    case .resume: "resume"
    case .end: "end"
    }
  }

  /// Those of a template's variables, as text or numbers.
  private static func values(_ given: Any?) throws(LiveKitError) -> [String: String] {
    guard let given else { return [:] }
    let texts = (given as? [String: Any])?.mapValues { $0 as? String ?? ($0 as? NSNumber)?.stringValue }
    guard let texts, !texts.values.contains(nil) else {
      throw LiveKitError(.invalidParameter, "\"values\" is to be an object of texts or numbers")
    }
    return texts.compactMapValues { $0 }
  }
}
