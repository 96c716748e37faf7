import PipelineTemplates

// Options of `record` and `stream`, and keys of a job that records, which exclude each other.
extension RecordingCommand {
  /// Two options, whether both are given, and why only one of them can be.
  private typealias Alternative = (first: String, second: String, areGiven: Bool, reason: String)

  /// What is given and cannot be beside something else, in words.
  var exclusions: [String] {
    let all = [ofTracks, ofKinds, ofVideo, ofAudio, ofComposite, ofGroup].flatMap { $0 }
    return all.filter { $0.areGiven }.map { "\($0.first) and \($0.second) exclude each other: \($0.reason)" }
  }

  private var ofTracks: [Alternative] {
    let (source, name, track) = (!tracks.source.isEmpty, !tracks.trackName.isEmpty, !tracks.track.isEmpty)
    let output = targets.first?.output ?? ""
    return [
      ("--participant", "--track", !tracks.participant.isEmpty && track, "a track belongs to one participant"),
      ("--source", "--track", source && track, "a track has one source"),
      ("--track-name", "--track", name && track, "a track is named already"),
      ("--output", "\(output)=", self.output != nil && isNamed, "both name the output template"),
      (
        "--output", "a second destination", self.output != nil && destination.count > 1,
        "write NAME=LOCATION for each of them"
      ),
    ]
  }

  private var isNamed: Bool { destination.first.map { Destination(argument: $0).output != nil } ?? false }

  private var ofKinds: [Alternative] {
    let (source, track) = (!tracks.source.isEmpty, !tracks.track.isEmpty)
    return [
      ("--audio-only", "--video-only", audioOnly && videoOnly, "nothing would be left"),
      ("--audio-only", "--source", audioOnly && source, "--source microphone is audio alone"),
      ("--video-only", "--source", videoOnly && source, "--source camera is video alone"),
      ("--audio-only", "--track", audioOnly && track, "a track is what it is"),
      ("--video-only", "--track", videoOnly && track, "a track is what it is"),
    ]
  }

  private var ofVideo: [Alternative] {
    [
      ("--audio-only", encoding.ofVideo.first ?? "", audioOnly && !encoding.ofVideo.isEmpty, "it is for video"),
      (
        "--audio-only", composite.ofVideo.first ?? "", isComposite && audioOnly && !composite.ofVideo.isEmpty,
        "it is for video"
      ),
      (
        "--label-topic", "--audio-only", composite.labelTopic != nil && audioOnly, "labels are shown on video"
      ),
      (
        "--burn-captions", "--audio-only", composite.burnCaptions && audioOnly,
        "they are drawn into video; --captions writes them beside the file"
      ),
    ]
  }

  private var ofAudio: [Alternative] {
    let given = encoding.ofAudio + mixedAudio.given
    return [("--video-only", given.first ?? "", videoOnly && !given.isEmpty, "it is for audio")]
  }

  private var ofComposite: [Alternative] {
    [
      ("--composite", "--track", isComposite && !tracks.track.isEmpty, "a composite has all tracks"),
      ("--composite", "--track-name", isComposite && !tracks.trackName.isEmpty, "a composite has all tracks"),
      ("--composite", "--source", isComposite && !tracks.source.isEmpty, "a composite has all tracks"),
      (
        "--composite", "--until-left", isComposite && tracks.only == nil && untilLeft,
        "nobody's leaving ends it; --until-empty does"
      ),
      ("--composite participant", "--until-empty", isOfOne && untilEmpty, "--until-left ends it"),
    ]
  }

  private var ofGroup: [Alternative] {
    [
      ("--each", "--track", each != nil && !tracks.track.isEmpty, "each has all who are there"),
      ("--each", "--composite", each != nil && isComposite, "files of their own, or one that is mixed"),
      ("--each", "--until-left", each != nil && untilLeft, "each ends when its participant leaves"),
      ("--until-left", "--until-empty", untilLeft && untilEmpty, "give the one that comes first"),
    ]
  }
}
