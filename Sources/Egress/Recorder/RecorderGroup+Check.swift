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
}
