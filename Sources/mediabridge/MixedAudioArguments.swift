import ArgumentParser
import Egress

/// Options for the audio of a mixed room, for commands that have any.
struct MixedAudioArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Who is heard in which channel: default (all in both), dual-channel-agent (agents left, all others right) or "
        + "dual-channel-alternate (the first who came left, the next right, and so on)", valueName: "mode"),
    transform: word(named:))
  var audioMixing: AudioMixing?

  @Option(
    help: ArgumentHelp(
      "Audio tracks of a file: mix has everybody in one, participant also one for each behind that (.mkv, .mp4); who "
        + "joins later has one from the next part on, name-2.mkv", valueName: "mix|participant"),
    transform: word(named:))
  var audioTracks: AudioTracks?

  /// Those that were given.
  var given: [String] {
    [("--audio-mixing", audioMixing != nil), ("--audio-tracks", audioTracks != nil)].filter(\.1).map(\.0)
  }

  func apply(to options: inout CompositeOptions) {
    options.audioMixing = audioMixing ?? .defaultMixing
    options.audioTracks = audioTracks ?? .mix
  }
}
