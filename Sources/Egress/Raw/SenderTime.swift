package import Foundation
package import MediaBridge
package import MediaCore

/// A moment by our clock, and what its sender said of it, from which those around it follow. Pure.
package struct SenderTime: Sendable {
  private let time: MediaTime
  private let origin: FrameOrigin
  /// What is further away may be of another beginning of the sender's clock.
  private static let furthest = Duration.seconds(3)

  package init(_ time: MediaTime, _ origin: FrameOrigin) { (self.time, self.origin) = (time, origin) }

  /// The sender's timestamp and wall clock then; nil far from what it spoke of.
  package func at(_ moment: MediaTime) -> (rtp: UInt32, captured: Date?)? {
    let age = moment - time
    guard abs(age.nanoseconds) < Self.furthest.nanoseconds else { return nil }
    let ticks = Int64((age.seconds * Double(origin.clockRate)).rounded())
    return (
      origin.rtpTimestamp &+ UInt32(truncatingIfNeeded: ticks), origin.captured?.addingTimeInterval(age.seconds)
    )
  }
}
