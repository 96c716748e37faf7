import Egress
import MediaBridge

/// How a value is written in the file of `run`: for what is said of mistakes, and for the schema.
indirect enum RunForm {
  case text(example: String)
  /// Of a shell, whose variables are its own.
  case command(example: String)
  /// Where raw media goes; an address of a WebSocket may hold secrets of the environment.
  case place
  case count(example: Int)
  case share
  case time
  case bytes
  case size
  case flag
  case choice([String])
  /// Only the name of a variable of the environment.
  case secret
  /// Variables of templates, by name.
  case values
  case destinations
  /// One, or a list of them.
  case some(RunForm)

  /// What goes there, with an example.
  var expectation: String {
    switch self {
    case .text(let example): "text such as \(example)"
    case .command(let example): "a command such as \(example)"
    case .place: "a file, a pipe, a socket such as unix:frames.sock, or - for standard output"
    case .count(let example): "a whole number such as \(example)"
    case .share: "a number from 0 to 1 such as 0.5"
    case .time: "a time such as 30s, 5m or 1h30m"
    case .bytes: "a size such as 500M or 2G"
    case .size: "a size such as 1280x720"
    case .flag: "true or false"
    case .choice(let words): "one of \(words.joined(separator: ", "))"
    case .secret: "a secret of the environment such as ${env:LIVEKIT_API_SECRET}"
    case .values: "variables of templates such as {bitrate: 1500}"
    case .destinations: "a file or an address, or a list of them, such as [talk.mp4, rtmp://host/app/key]"
    case .some(let form): "\(form.expectation), or a list of such"
    }
  }

  /// Of one value, in JSON schema.
  var schema: [String: Any] {
    switch self {
    case .text: ["type": ["string", "number"]]
    case .command, .place: ["type": "string", "minLength": 1]
    case .count: ["type": "integer", "minimum": 0]
    case .share: ["type": "number", "minimum": 0, "maximum": 1]
    case .time: ["type": ["string", "number"], "pattern": "^([0-9.]+|([0-9.]+[hms])+)$"]
    case .bytes: ["type": ["string", "integer"], "pattern": "^[0-9.]+[kKmMgG]?$"]
    case .size: ["type": "string", "pattern": "^[0-9]+x[0-9]+$"]
    case .flag: ["type": "boolean"]
    case .choice(let words): ["enum": words]
    case .secret: ["type": "string", "pattern": RunSecret.pattern]
    case .values: ["type": "object", "additionalProperties": ["type": ["string", "number", "boolean"]]]
    case .destinations: Self.oneOrMore(RunDestinationItem.schema)
    case .some(let form): Self.oneOrMore(form.schema)
    }
  }

  private static func oneOrMore(_ item: [String: Any]) -> [String: Any] {
    ["anyOf": [item, ["type": "array", "minItems": 1, "items": item]]]
  }
}
