import GStreamerKit
import MediaCore
import Testing

@testable import Egress

extension Job {
  /// Writes decoded frames.
  func show(
    _ numbers: Range<Int>, from start: MediaTime, every step: Duration = .milliseconds(40)
  ) throws {
    let black = try #require(MediaBuffer.blackFrame(width: 320, height: 180))
    for number in numbers {
      let frame = black.withUnsafeBytes {
        MediaBuffer(copying: $0, caps: black.caps, pts: start + step * number)
      }
      media.write(frame, .video, isRaw: true)
    }
  }
}
