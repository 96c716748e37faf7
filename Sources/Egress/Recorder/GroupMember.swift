import MediaBridge
import MediaCore
import PipelineTemplates

/// One of a group who gets files or addresses of their own, or whose track does, from coming to leaving.
struct GroupMember: Sendable {
  /// An identity, or the server's id of a track.
  let name: String
  let recorder: Recorder
  let destinations: [Destination]
  var task: Task<Void, Never>?
  var hasBegun = false
  var isOver = false
  /// Why nothing of it is recorded.
  var failure: LiveKitError?
  /// Whether nothing of it can be written any more.
  var hasFailed = false
  /// Whether it was not there any more since it began.
  var hasLeft = false
  /// Since when something that is not muted is published, of which nothing comes.
  var silentSince: MediaTime?

  /// How long something that is published may send nothing.
  private static let patience = Duration.seconds(10)

  /// A track that was refused once is refused again; what sent nothing may send something now. What cannot be written is not
  /// tried again and again while somebody stays.
  var mayBeginAnew: Bool {
    if let failure, failure.code != .noMedia { return false }
    return !hasFailed || hasLeft
  }

  /// Notes that it does not begin any more, which is a failure where something was to come.
  mutating func passes(at now: MediaTime) {
    guard !hasBegun, !isOver, failure == nil, let silentSince, now - silentSince >= Self.patience else {
      return
    }
    failure = LiveKitError(
      .noMedia, "nothing of \(name) has come in \((now - silentSince).components.seconds) s, though it was not muted")
  }

  /// Of its destinations, where nothing of it is recorded.
  var failed: [DestinationStatus] {
    guard !hasBegun, let failure else { return [] }
    return destinations.map { destination in
      var status = DestinationStatus(destination, .failed)
      status.failure = failure
      return status
    }
  }
}
