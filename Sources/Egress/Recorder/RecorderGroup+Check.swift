package import MediaBridge
import PipelineTemplates

extension RecorderGroup {
  /// - Throws: why what is asked for has no destination of its own for each.
  package static func check(_ options: RecordingOptions, each unit: Unit) throws(LiveKitError) {
    let placeholder = unit == .track ? "{track_id}" : "{publisher_identity}"
    for destination in options.destinations.map(\.destination) {
      guard !destination.isWindow else {
        throw LiveKitError(.invalidParameter, "a window is one, and each \(unit) needs a place of its own")
      }
      guard destination.template != "udp" else {
        throw LiveKitError(
          .invalidParameter,
          "\(destination.shown) is one address, and each \(unit) needs one of its own, for which UDP has no names: give "
            + "files, or addresses of RTMP or SRT")
      }
      guard !destination.location.contains(placeholder) else { continue }
      let (what, place) = destination.isFile ? ("file", "name") : ("address", "path or its query")
      // Whoever shares a screen again has another track of the same source.
      let reason =
        unit == .track && destination.location.contains("{track_")
        ? "is the same for several tracks of one source" : "is one \(what), and each \(unit) needs one of its own"
      throw LiveKitError(
        .invalidParameter, "\(destination.shown) \(reason): put \(placeholder) into its \(place)")
    }
    guard options.participant == nil, options.trackSids.isEmpty else {
      throw LiveKitError(.invalidParameter, "each \(unit) is asked for, and single ones, too: leave one of both out")
    }
  }

  /// What is asked for of one of them.
  /// - Parameters:
  ///   - name: the participant's identity, or the id of the track; by default that of a track that is yet to come.
  ///   - take: counts from 1: whoever comes back does not get the file of before.
  package static func memberOptions(
    _ all: RecordingOptions, each unit: Unit, _ name: String = "TR_", participant: String? = nil, take: Int = 1
  ) -> RecordingOptions {
    var options = all
    (options.wait, options.participantPatterns, options.duration) = (nil, [], nil)
    // How long the room may be empty, not how long one of them may be away.
    options.emptyTimeout = RecordingOptions.usualEmptyTimeout
    switch unit {
    case .participant: (options.participant, options.ending) = (participant, .participantLeft)
    case .track:
      (options.trackSids, options.sources, options.ending) = ([name], [], .tracksEnded)
      // Under another SID it is another one of the group.
      (options.trackNames, options.followsSids) = ([], false)
    }
    for index in options.destinations.indices {
      options.destinations[index].takesBefore += take - 1
      options.destinations[index].isOfMany = true
    }
    return options
  }
}
