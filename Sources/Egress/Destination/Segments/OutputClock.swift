import Foundation
import MediaCore

/// Which time of day it was when something came that an output holds.
final class OutputClock: Sendable {
  private struct State {
    /// The moment of the job at which the output begins.
    var beginning: Duration?
    /// One moment by both clocks. The one on the wall may be set later: it is asked once.
    var meeting: (wall: Date, ours: MediaTime)?
    /// How far the output goes, as far as what comes says how long it is.
    var end: Duration?
  }
  private let moment: @Sendable (Duration) -> MediaTime?
  private let state = Locked(State())

  /// - Parameter moment: when it was that a moment of the job took place, pauses and all; nil before its first one.
  init(_ moment: @escaping @Sendable (Duration) -> MediaTime?) { self.moment = moment }

  /// Notes the moment of the job at which the output begins.
  func begin(at moment: Duration) { state.withLock { $0.beginning = $0.beginning ?? moment } }

  /// Notes how far the output goes.
  func reach(_ end: Duration) { state.withLock { $0.end = max($0.end ?? end, end) } }
  var end: Duration? { state.withLock { $0.end } }

  /// - Parameter time: since the output's beginning.
  func date(of time: Duration) -> Date {
    let (beginning, meeting) = state.withLock { state in
      let meeting = state.meeting ?? (.now, .now)
      state.meeting = meeting
      return (state.beginning, meeting)
    }
    guard let beginning, let moment = moment(beginning + time) else { return .now }
    return meeting.wall.addingTimeInterval((moment - meeting.ours) / .seconds(1))
  }
}
