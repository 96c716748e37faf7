import ArgumentParser
import MediaBridge

/// Which tracks a command takes: of whom, and what of them.
struct TrackArguments: ParsableArguments {
  @Option(
    help: """
      Identity of the participant; without it the first one that sends something. In a recording, and of frames and \
      pcm, also like speaker-*, for the first of several, or with --each for all of them
      """)
  var participant: String?

  @Option(
    help: ArgumentHelp(
      "What of the participant: camera, screen, microphone or screen-audio; again for another one",
      valueName: "source"), transform: source(named:))
  var source: [Track.Source] = []

  @Option(help: ArgumentHelp("A single track; again for one of the other kind", valueName: "sid"))
  var track: [String] = []
}

/// The transform of `--source`.
func source(named name: String) throws -> Track.Source {
  let known = [Track.Source.camera, .screenShareVideo, .microphone, .screenShareAudio]
  guard let source = known.first(where: { $0.optionName == name }) else {
    throw ValidationError("give one of \(known.map(\.optionName).joined(separator: ", "))")
  }
  return source
}
