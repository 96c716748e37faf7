import Egress
import MediaBridge

/// What could not be done of the changes of a job that runs, and is still asked for. Pure.
struct RefusedChanges {
  /// What was to be done: the same may be done later.
  enum Change: Equatable {
    case add(String)
    case remove(String)
    case layout
  }

  private var all: [(change: Change, reason: LiveKitError)] = []

  /// - Parameter reason: nil where it was done.
  mutating func note(_ change: Change, _ reason: LiveKitError?) {
    all.removeAll { $0.change == change }
    guard let reason else { return }
    // Only the last destination stays; of one that has gone and is not complete the recording says so at its end.
    if case .remove = change, reason.code != .invalidState { return }
    all.append((change, reason))
  }

  /// Forgets what is asked for no more.
  /// - Parameter locations: where the job is to go.
  mutating func keep(for locations: Set<String>) {
    all.removeAll {
      switch $0.change {
      case .add(let location): !locations.contains(location)
      case .remove(let location): locations.contains(location)
      case .layout: false
      }
    }
  }

  /// Why something is missing; nil where nothing is.
  var lack: LiveKitError? {
    LiveKitError.joined(all.map(\.reason)).map { lack in
      LiveKitError(lack.code, "not done while it ran: \(lack.message)", fault: lack.fault, underlying: lack)
    }
  }
}
