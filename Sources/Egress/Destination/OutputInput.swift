import MediaBridge
import PipelineTemplates

/// One of the inputs of an output template.
enum OutputInput: Hashable, Sendable {
  case video
  case audio
  /// The audio of one alone, beside the mix.
  case voice(Int)

  init(_ kind: Track.Kind) { self = kind == .video ? .video : .audio }

  /// Of the appsrc.
  var name: String {
    switch self {
    case .video: "video"
    case .audio: "audio"
    case .voice(let number): RepeatedInput.name(number)
    }
  }

  var kind: Track.Kind { self == .video ? .video : .audio }

  /// Nil for what is of all.
  var voice: Int? { if case .voice(let number) = self { number } else { nil } }
}

/// Somebody whose audio has a track of its own.
struct Voice: Hashable, Sendable {
  /// Of the input: 2 for the first.
  var number: Int
  /// What the track is called.
  var title: String
}
