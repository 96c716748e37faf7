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
  /// - Parameter end: how far it goes now; nil where what comes does not say how long it is.
  func begin(at moment: Duration, reaching end: Duration?) {
    state.withLock { state in
      state.beginning = state.beginning ?? moment
      state.end = [state.end, end].compactMap { $0 }.max()
    }
  }

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
