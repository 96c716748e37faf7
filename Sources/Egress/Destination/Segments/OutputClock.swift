import Foundation
import MediaCore

/// Which time of day it was at an output's beginning.
final class OutputClock: Sendable {
  private let origin: @Sendable () -> MediaTime?
  private let beginning = Locked<Duration?>(nil)

  /// - Parameter origin: of the job; nil before its first moment.
  init(_ origin: @escaping @Sendable () -> MediaTime?) { self.origin = origin }

  /// Notes the moment of the job at which the output begins.
  func begin(at moment: Duration) { beginning.withLock { $0 = $0 ?? moment } }

  /// When what is seen and heard first came here. The wall clock may be set later: it is asked once.
  func date() -> Date {
    guard let origin = origin(), let beginning = beginning.withLock({ $0 }) else { return .now }
    return .now.addingTimeInterval(-((MediaTime.now - (origin + beginning)) / .seconds(1)))
  }
}
