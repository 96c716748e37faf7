import Foundation
import MediaCore

/// Which time of day it was when something came that an output holds.
final class OutputClock: Sendable {
  private struct State {
    /// The moment of the job at which the output begins.
    var beginning: Duration?
    /// One moment by both clocks. The one on the wall may be set later: it is asked once.
    var meeting: (wall: Date, uptime: Duration)?
    /// How far the output goes, as far as what comes says how long it is.
    var end: Duration?
  }
  private let uptime: @Sendable (Duration) -> Duration?
  private let state = Locked(State())

  /// - Parameter uptime: how long the machine was up when a moment of the job took place, pauses and sleep and all; nil
  ///   before its first one.
  init(_ uptime: @escaping @Sendable (Duration) -> Duration?) { self.uptime = uptime }

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
      let meeting = state.meeting ?? (.now, MediaTime.uptime)
      state.meeting = meeting
      return (state.beginning, meeting)
    }
    guard let beginning, let uptime = uptime(beginning + time) else { return .now }
    return meeting.wall.addingTimeInterval((uptime - meeting.uptime) / .seconds(1))
  }
}
