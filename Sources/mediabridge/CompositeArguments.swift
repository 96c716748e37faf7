import ArgumentParser
import Egress
import Foundation
import MediaBridge

/// Options for mixing a room into one video and one audio.
struct CompositeArguments: ParsableArguments {
  @Option(
    name: .customLong("composite"),
    help: ArgumentHelp(
      "Mix the room, or those whom --participant names: grid, speaker (who speaks large, the others beside), single-speaker, screen-share, "
        + "participant (the newest camera or screen of --participant), the first three on white as grid-light and so on, "
        + "or a YAML file that describes a layout",
      valueName: "layout"), transform: layout(named:))
  var layout: CompositeLayout?

  @Option(
    help: ArgumentHelp(
      "Keep who speaks large until somebody else has spoken for this long, such as 2s, or for a second once who is "
        + "large has been quiet for this long: a cough changes nothing; without it each change is followed at once",
      valueName: "time"), transform: duration(of:))
  var speakerHold: Duration?

  @Flag(
    name: .customLong("names"),
    help: "Write the name of each participant into its tile, with a mark where the microphone is muted")
  var showsNames = false

  @Flag(
    name: .customLong("placeholders"),
    help: "Show a tile with initials and name for each who has no camera on")
  var showsPlaceholders = false

  @Option(
    help: ArgumentHelp(
      """
      Show data messages of this topic as labels, whoever of the room sends them: {"text": "...", "participant": "alice", \
      "duration": 5} shows one on alice's tiles for 5 s, without participant on the whole frame, without duration until the \
      next; other text is shown as it is, and an empty one takes the label away
      """, valueName: "topic"))
  var labelTopic: String?

  @Flag(
    help: """
      Draw what is transcribed in the room, such as by an agent, into the frames while it is said: two lines at the \
      bottom, with names where several speak; of record --captions writes it beside the files, too
      """)
  var burnCaptions = false

  @OptionGroup var scenery: SceneryArguments

  func validate() throws {
    if labelTopic == "" { throw ValidationError("--label-topic is empty: give a topic, such as captions") }
    guard layout == nil else { return }
    let given =
      scenery.given + [
        ("--speaker-hold", speakerHold != nil), ("--names", showsNames), ("--placeholders", showsPlaceholders),
        ("--label-topic", labelTopic != nil), ("--burn-captions", burnCaptions),
      ]
    if let option = given.first(where: \.1)?.0 {
      throw Self.isForMixedRoom(option)
    }
  }

  static func isForMixedRoom(_ option: String) -> ValidationError {
    ValidationError("\(option) is for a mixed room: give --composite LAYOUT, too, such as --composite grid")
  }

  /// Those that were given and change nothing but what is seen.
  var ofVideo: [String] {
    let given =
      scenery.given + [
        ("--names", showsNames), ("--placeholders", showsPlaceholders), ("--speaker-hold", speakerHold != nil),
      ]
    return given.filter(\.1).map(\.0)
  }

  /// The same of what is shown on it when it comes.
  var onVideo: [String] {
    [("--label-topic", labelTopic != nil), ("--burn-captions", burnCaptions)].filter(\.1).map(\.0)
  }

  /// - Parameter recording: what is asked for besides.
  func options(_ layout: CompositeLayout, _ recording: RecordingOptions) -> CompositeOptions {
    var options = CompositeOptions(
      destinations: recording.destinations, encode: recording.encode, encoding: recording.encoding, layout: layout,
      speakerHold: speakerHold ?? .zero, showsNames: showsNames, kinds: recording.kinds,
      endsWhenEmpty: recording.ending != nil,
      wait: recording.wait, reconnectFor: recording.reconnectFor, values: recording.values)
    (options.replacesFiles, options.parts) = (recording.replacesFiles, recording.parts)
    (options.duration, options.emptyTimeout) = (recording.duration, recording.emptyTimeout)
    (options.showsPlaceholders, options.captions) = (showsPlaceholders, recording.captions)
    (options.participant, options.participants) = (recording.participant, recording.participantPatterns)
    (options.scenery, options.labelTopic, options.burnsCaptions) = (scenery.scenery, labelTopic, burnCaptions)
    return options
  }
}

/// The transform of `--composite`.
func layout(named name: String) throws -> CompositeLayout {
  do { return try CompositeLayout(argument: name) } catch { throw ValidationError(error.message) }
}
