import ArgumentParser
import Egress
import MediaBridge
import PipelineTemplates

// What is wrong with `record` and `stream`, and with a job that records, as far as their words tell.
extension RecordingCommand {
  /// - Throws: what is given is of no use.
  func checkUse() throws {
    try access.check(participants: tracks.participant)
    try checkMix()
    try checkPlaces()
    try checkVideo()
    if emptyTimeout != nil, !untilEmpty, !untilLeft, tracks.track.isEmpty {
      throw ValidationError("--empty-timeout is for --until-empty, --until-left and --track: give one of them, too")
    }
    if let duration, duration <= .zero {
      throw ValidationError("--duration: there is nothing to record in no time; leave it out to record until Ctrl-C")
    }
    if files.maxSize != nil, !targets.contains(where: \.isFile) {
      throw ValidationError("--max-size is for files, and no destination is one: --duration ends a live stream, too")
    }
  }

  /// - Throws: what is given for a mixed room does not fit it, or there is none.
  private func checkMix() throws {
    if isOfOne, tracks.only == nil {
      throw ValidationError("--composite participant: say of whom with --participant IDENTITY")
    }
    guard !isComposite else { return }
    if each == nil {
      try tracks.checkOne(
        both: "--each participant gives each a file or an address, --composite grid mixes them")
    }
    if let option = mixedAudio.given.first { throw CompositeArguments.isForMixedRoom(option) }
    if encoding.fps != nil {
      throw ValidationError(
        "--fps is for a mixed room: give --composite LAYOUT, too; the frames of one participant stay as they are sent")
    }
  }

  /// - Throws: something is for video, and no destination has any.
  private func checkVideo() throws {
    guard let option = (encoding.ofVideo + composite.ofVideo + composite.onVideo).first, !targets.isEmpty,
      takenKinds?.contains(.video) == false
    else { return }
    let places = targets.map(\.shown).joined(separator: " and ")
    throw ValidationError(
      "\(option) is for video, and \(places) \(targets.count > 1 ? "have" : "has") none; leave it out")
  }

  /// What the destinations take; nil where that cannot be known, which is told of what is wrong with them.
  private var takenKinds: Set<Track.Kind>? {
    do throws(LiveKitError) {
      var kinds: Set<Track.Kind> = []
      for target in targets {
        kinds.formUnion(
          try OutputTemplates(of: OutputDestination(target), encode: encode, folder: access.pipelines).kinds())
      }
      return kinds
    } catch { return nil }
  }

  /// - Throws: there can be nothing at a destination, or two are one place.
  private func checkPlaces() throws {
    if let target = targets.first(where: { RawTarget.standardOutputs.contains($0.location) }) {
      throw ValidationError(
        "'\(target.location)': standard output carries what is told; name a file or a named pipe, or use 'frames' or "
          + "'pcm', which write there")
    }
    for (index, target) in targets.enumerated() {
      guard let other = targets[..<index].first(where: target.isSamePlace) else { continue }
      throw ValidationError(
        "\(other.shown) and \(target.shown) are the same: two destinations cannot write into one; give one of them "
          + "another name")
    }
  }

  /// Those that were given and are of no use without a file.
  var optionsOfFiles: [String] {
    [("manifest", files.manifest), ("on-complete", files.onComplete != nil)].filter(\.1).map(\.0)
  }
}

extension Destination {
  /// As far as names tell it. Pipes and devices are everybody's.
  fileprivate func isSamePlace(as other: Destination) -> Bool {
    guard isFile, other.isFile else { return isFile == other.isFile && location == other.location }
    return !PathSink.isPipe(location) && !location.hasPrefix("/dev/")
      && location.standardPath == other.location.standardPath
  }
}
