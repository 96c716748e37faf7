import Egress
import MediaBridge

/// What a job makes.
enum RunKind: String, CaseIterable {
  case record, frames, pcm

  /// The keys of all of them, by kind.
  static let keys: [RunKind: [String]] = [
    .record: RunKey<RunJobDraft>.all.map(\.name), .frames: RunKey<RunRawDraft<FramesCommand>>.all.map(\.name),
    .pcm: RunKey<RunRawDraft<PCMCommand>>.all.map(\.name),
  ]
  /// Of messages that speak of options, said of keys.
  static let allKeys = Set(keys.values.joined()).sorted()

  /// Which kinds have a key that this one does not have.
  func hint(_ key: String) -> String? {
    let others = Self.allCases.filter { $0 != self && Self.keys[$0]?.contains(key) == true }.map { "`kind: \($0)`" }
    return others.isEmpty ? nil : "it is a key of \(others.joined(separator: " or "))"
  }
}

// Keys that several kinds of jobs have.
extension RunKey {
  static var kind: RunKey {
    RunKey(
      name: "kind", form: .choice(RunKind.allCases.map(\.rawValue)),
      help: "What it makes: record, which is the default, or frames or pcm for other programs"
    ) { _, _ in }
  }

  static func room(_ path: WritableKeyPath<Target, String?>) -> RunKey {
    text("room", path, example: "main", help: "The name of its room in this file; needed where there are several")
  }

  /// Of whom, and which tracks.
  static func selection(_ tracks: WritableKeyPath<Target, TrackArguments>, _ sources: [String]) -> [RunKey] {
    [
      some("participant", .text(example: "alice or speaker-*"), tracks.appending(path: \.participant)) { $0 },
      some("track", .text(example: "TR_VCabc"), tracks.appending(path: \.track)) { $0 },
      some("track-name", .text(example: "cam-*"), tracks.appending(path: \.trackName)) { $0 },
      some("source", .choice(sources), tracks.appending(path: \.source), source(named:)),
    ]
  }

  /// How the video of a room is mixed.
  static func seen(_ composite: WritableKeyPath<Target, CompositeArguments>) -> [RunKey] {
    let scenery = composite.appending(path: \.scenery)
    return [
      optional(
        "composite", .text(example: "grid, speaker, or layout.yaml"), composite.appending(path: \.layout),
        layout(named:)),
      optional("speaker-hold", .time, composite.appending(path: \.speakerHold), duration(of:)),
      flag("names", composite.appending(path: \.showsNames)),
      flag("placeholders", composite.appending(path: \.showsPlaceholders)),
      text("label-topic", composite.appending(path: \.labelTopic), example: "captions"),
      flag("burn-captions", composite.appending(path: \.burnCaptions)),
      one("gap", .count(example: 8), scenery.appending(path: \.gap), count(of:)),
      one("corner-radius", .count(example: 16), scenery.appending(path: \.cornerRadius), count(of:)),
      optional(
        "background", .text(example: "white, #203040 or wall.png"), scenery.appending(path: \.background),
        background(of:)),
      text("logo", scenery.appending(path: \.logo), example: "logo.png"),
      optional(
        "logo-corner", .choice(CompositeScenery.Logo.Corner.allCases.map(\.rawValue)),
        scenery.appending(path: \.logoCorner), corner(named:)),
      optional("logo-opacity", .share, scenery.appending(path: \.logoOpacity), share(of:)),
    ]
  }
}
