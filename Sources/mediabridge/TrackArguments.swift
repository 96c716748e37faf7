import ArgumentParser
import Egress
import MediaBridge

/// Which tracks a command takes: of whom, and what of them.
struct TrackArguments: ParsableArguments {
  @Option(
    help: """
      Identity of the participant to take, or a pattern such as speaker-*; again for further ones. Where only one is \
      taken it is the first who fits and sends something, without this option the first of all who does. The \
      identity to join with is --identity
      """)
  var participant: [String] = []

  @Option(
    help: ArgumentHelp(
      "What of the participant: of video camera or screen, of audio microphone or screen-audio; again for another one",
      valueName: "source"), transform: source(named:))
  var source: [Track.Source] = []

  @Option(
    help: ArgumentHelp(
      "Only tracks of this name, or that fit a pattern such as cam-*; again for another name", valueName: "name"))
  var trackName: [String] = []

  @Option(
    help: ArgumentHelp(
      "A single track; of record and stream it ends the recording with it (not with --until-left or --until-empty), and "
        + "one of the other kind may be given, too",
      valueName: "sid"))
  var track: [String] = []

  func validate() throws {
    for (option, values) in [("--participant", participant), ("--track", track), ("--track-name", trackName)]
    where values.contains("") {
      throw ValidationError("\(option) is empty; give a value, or leave it out")
    }
  }

  /// The only participant that is named; nil where there may be several.
  var only: String? { NamePatterns(participant).only }
  /// Names and patterns where there may be several; empty for all.
  var participants: [String] { only == nil ? participant : [] }

  /// For a command that takes one: a pattern is for the first who comes, and two names are for two.
  /// - Parameter both: how to have them.
  /// - Throws: two are named.
  func checkOne(both: String) throws {
    let names = participant.filter { !NamePattern.isPattern($0) }
    guard let first = names.first, let second = names.first(where: { $0 != first }) else { return }
    throw ValidationError("--participant \(first) and --participant \(second): one alone would be taken; \(both)")
  }
}

/// The transform of `--source`.
func source(named name: String) throws -> Track.Source {
  let known = [Track.Source.camera, .screenShareVideo, .microphone, .screenShareAudio]
  guard let source = known.first(where: { $0.optionName == name }) else {
    throw ValidationError("give one of \(known.map(\.optionName).joined(separator: ", "))")
  }
  return source
}
