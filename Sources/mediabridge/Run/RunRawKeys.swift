import ArgumentParser
import Egress
import MediaBridge

/// A job that hands raw media on, as it is read: what `frames` or `pcm` would be told.
struct RunRawDraft<Command: RawCommand> {
  var command: Command
  /// The name of its room; nil for the only one.
  var room: String?
}

extension RunKey where Target == RunRawDraft<FramesCommand> {
  static var all: [RunKey] {
    source(["camera", "screen"]) + [
      optional("format", .choice(RawFormat.allCases.map(\.rawValue)), \.command.format, word),
      optional("size", .size, \.command.size, size(of:)),
      optional("fps", .count(example: 5), \.command.fps, count(of:)),
    ] + seen(\.command.composite) + outputs(replies: ReplyKind.allCases)
  }
}

extension RunKey where Target == RunRawDraft<PCMCommand> {
  static var all: [RunKey] {
    source(["microphone", "screen-audio"]) + [
      flag("mix", \.command.mix),
      optional("format", .choice(PCMFormat.allCases.map(\.rawValue)), \.command.format, word),
      one("rate", .count(example: 16_000), \.command.rate, count(of:)),
      one("channels", .count(example: 1), \.command.channels, count(of:)),
    ] + outputs(replies: [.data]) + [
      one("reconnect-for", .time, \.command.reconnectFor, duration(of:))
    ]
  }
}

extension RunKey {
  /// What of the room.
  fileprivate static func source<Command>(_ sources: [String]) -> [RunKey] where Target == RunRawDraft<Command> {
    [kind, room(\.room)] + selection(\.command.raw.tracks, sources) + [
      flag("each", \.command.raw.each),
      optional("wait", .time, \.command.raw.wait, duration(of:)),
      optional("duration", .time, \.command.raw.duration, duration(of:)),
    ]
  }

  /// Where it goes.
  fileprivate static func outputs<Command>(
    replies: [ReplyKind]
  ) -> [RunKey] where Target == RunRawDraft<Command> {
    [
      RunKey(
        name: "destination", form: .place,
        help:
          "Where it goes: a file, a pipe, unix:PATH, of frames shm:PATH or a folder, of audio ws://…, or - for one job"
      ) { $0.command.raw.destination = $1.first?.text ?? "-" },
      command("exec", \.command.raw.exec, example: "python3 detect.py"),
      optional("reply", .choice(replies.map(\.rawValue)), \.command.raw.reply, word),
      flag("framed", \.command.raw.framed),
      RunKey(name: "info", form: .text(example: "info.jsonl"), help: "The file for JSON lines about what is handed on")
      {
        guard let text = $1.first?.text, Int(text) == nil else {
          throw ValidationError("jobs share the descriptors of a process; give a file")
        }
        $0.command.raw.info = text
      },
      flag("overwrite", \.command.raw.overwrite),
      values("set", \.command.raw.set.pairs),
    ]
  }
}

/// The transform of words that were found among those that there are.
private func word<Word: RawRepresentable>(_ text: String) throws -> Word where Word.RawValue == String {
  guard let word = Word(rawValue: text) else { throw ValidationError("that is none of them") }
  return word
}
