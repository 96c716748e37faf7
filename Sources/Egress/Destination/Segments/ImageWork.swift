import Foundation
import GStreamerKit
import MediaBridge
import MediaCore

/// The images that an output writes: each in a file of its own, and the newest under the destination's name.
struct ImageWork: SegmentedWork {
  private let names: SegmentNames
  private let suffix: SegmentOptions.Suffix
  private let claim: FileClaim
  private var clock: OutputClock
  private var count = 0

  private(set) var files: [String] = []
  private(set) var bytes: Int64 = 0
  /// What is between two images is in none.
  let length: Duration? = nil

  init(_ names: SegmentNames, _ options: SegmentOptions, _ claim: FileClaim, _ clock: OutputClock) {
    (self.names, self.claim, self.clock) = (names, claim, clock)
    suffix = options.suffix
  }

  mutating func take(_ media: MediaBuffer) throws(LiveKitError) -> Bool {
    let image = media.withUnsafeBytes { Array($0) }
    if suffix != .none {
      // When it was sent, however long it took to become an image.
      let date = media.pts.map { clock.date(of: .nanoseconds($0.nanoseconds)) } ?? .now
      let path = names.path(names.segment(count, at: date, names.ending ?? "jpeg"))
      close(try WholeFile.write(image, to: path))
      files.append(path)
      bytes += Int64(image.count)
    }
    try claim.replace(with: image)
    if suffix == .none { bytes = Int64(image.count) }
    count += 1
    return true
  }

  func finish(isBroken: Bool) {}
  func pause() {}
  mutating func resume(_ options: SegmentOptions, _ clock: OutputClock, hasVideo: Bool) { self.clock = clock }
}
