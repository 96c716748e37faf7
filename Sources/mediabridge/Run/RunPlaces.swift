import PipelineTemplates
import Yams

/// What a mapping of the file gave, and where it stands there.
struct RunPlaces {
  var keys: [String: Mark] = [:]
  var items: [String: [(item: RunItem, mark: Mark?)]] = [:]

  /// For whoever compares.
  var given: RunReader.Given { items.mapValues { $0.map(\.item) } }

  /// Where that stands of which a message of `record` speaks first: an option, a destination, or a name in quotes.
  func mark(of message: String) -> Mark? {
    var found: [(at: String.Index, mark: Mark)] = []
    func note(_ needle: String, _ mark: Mark?) {
      guard let mark, !needle.isEmpty, let range = message.firstRange(of: needle) else { return }
      found.append((range.lowerBound, mark))
    }
    for (name, mark) in keys {
      if let range = message.firstRange(of: "--\(name)"), !message[range.upperBound...].hasPrefix("-") {
        found.append((range.lowerBound, mark))
      }
    }
    for (name, items) in items {
      for (item, mark) in items {
        let names = [item.text.split(separator: "=").first.map(String.init) ?? "", item.text] + item.values.keys
        for name in names { for quote in ["'", "\""] { note(quote + name + quote, mark) } }
        if name == "destinations" { note(Destination(argument: item.text).shown, mark) }
        if name == "destination", item.text != "-" {
          for text in [item.text, RawTarget.shown(item.text)] { note(text, mark) }
        }
      }
    }
    return found.min { $0.at < $1.at }?.mark
  }

  /// What `record` says of its options, said of keys.
  static func inWords(_ message: String, _ keys: [String]) -> String {
    message.replacing(/--([a-z][a-z-]*)/) { match in
      keys.contains(String(match.1)) ? "`\(match.1)`" : String(match.0)
    }
  }
}
