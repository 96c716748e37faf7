import Egress
import MediaBridge

/// A room as it is read.
struct RunRoomDraft {
  var access: RoomArguments
  /// For the templates that receive.
  var set: [String] = []
}

extension RunKey where Target == RunRoomDraft {
  static var all: [RunKey] {
    [
      text("url", \.access.url, example: "wss://livekit.example.org"),
      text("room", \.access.room, example: "talks"),
      text("identity", \.access.identity, example: "recorder"),
      secret("api-key", \.access.apiKey),
      secret("api-secret", \.access.apiSecret),
      secret("token", \.access.token),
      flag("dev", \.access.dev),
      text("pipelines", \.access.pipelines, example: "./pipelines"),
      one("reconnect-attempts", .count(example: 10), \.access.reconnectAttempts, count(of:)),
      some("ice-server", .text(example: "turns:turn.example.org:443"), \.access.iceServer) { $0 },
      text("ice-username", \.access.iceUsername, example: "recorder"),
      secret("ice-credential", \.access.iceCredential),
      flag("relay-only", \.access.relayOnly),
      {
        var key = values("set", \.set)
        key.help = "Values for the variables of the templates that receive, such as {latency: 300}"
        return key
      }(),
    ]
  }
}

/// A job that records, as it is read: what `record` would be told.
struct RunJobDraft {
  var recording: RecordCommand
  /// The name of its room; nil for the only one.
  var room: String?
  /// What is set for each destination alone.
  var destinationValues: [[String: String]] = []
}

extension RunKey where Target == RunJobDraft {
  static var all: [RunKey] { source + seen(\.recording.composite) + heard + outputs + encoding + ends }

  /// What of the room.
  private static var source: [RunKey] {
    [
      kind, room(\.room),
    ] + selection(\.recording.tracks, ["camera", "screen", "microphone", "screen-audio"]) + [
      optional("each", .choice(RecorderGroup.Unit.allCases.map(\.rawValue)), \.recording.each, unit(named:)),
      flag("audio-only", \.recording.audioOnly),
      flag("video-only", \.recording.videoOnly),
      optional("wait", .time, \.recording.wait, duration(of:)),
    ]
  }

  /// How the audio of a room is mixed.
  private static var heard: [RunKey] {
    [
      optional(
        "audio-mixing", .choice(AudioMixing.allCases.map(\.rawValue)), \.recording.mixedAudio.audioMixing,
        word(named:)),
      optional(
        "audio-tracks", .choice(AudioTracks.allCases.map(\.rawValue)), \.recording.mixedAudio.audioTracks,
        word(named:)),
    ]
  }

  /// Where it goes, and what becomes of files.
  private static var outputs: [RunKey] {
    [
      RunKey(
        name: "destinations", form: .destinations, help: "Where it goes: files and addresses, as `record` takes them"
      ) {
        $0.recording.destination = $1.map(\.text)
        $0.destinationValues = $1.map(\.values)
      },
      optional("part-duration", .time, \.recording.files.partDuration, duration(of:)),
      optional("part-size", .bytes, \.recording.files.partSize, bytes(of:)),
      command("on-complete", \.recording.files.onComplete, example: #"cp "$1" /store"#),
      flag("captions", \.recording.files.captions),
      flag("manifest", \.recording.files.manifest),
      flag("overwrite", \.recording.overwrite),
      optional("reconnect-for", .time, \.recording.reconnectFor, duration(of:)),
    ]
  }

  /// What is encoded, and how.
  private static var encoding: [RunKey] {
    [
      some("encode", .text(example: "h264"), \.recording.encode) { $0 },
      optional("preset", .choice(EncodingOptionsPreset.allNames), \.recording.encoding.preset, preset(named:)),
      optional("size", .size, \.recording.encoding.size, size(of:)),
      optional("width", .count(example: 1280), \.recording.encoding.width, count(of:)),
      optional("height", .count(example: 720), \.recording.encoding.height, count(of:)),
      optional("fps", .count(example: 30), \.recording.encoding.fps, count(of:)),
      optional("video-bitrate", .count(example: 3000), \.recording.encoding.videoBitrate, videoBitrate(of:)),
      optional("audio-bitrate", .count(example: 128), \.recording.encoding.audioBitrate, audioBitrate(of:)),
      optional("keyframe-interval", .time, \.recording.encoding.keyframeInterval, duration(of:)),
      values("set", \.recording.set.pairs),
    ]
  }

  /// What ends it.
  private static var ends: [RunKey] {
    [
      optional("duration", .time, \.recording.duration, duration(of:)),
      flag("until-left", \.recording.untilLeft),
      flag("until-empty", \.recording.untilEmpty),
      optional("empty-timeout", .time, \.recording.emptyTimeout, duration(of:)),
      optional("max-size", .bytes, \.recording.files.maxSize, bytes(of:)),
    ]
  }
}
