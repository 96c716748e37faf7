import Foundation
import GStreamerKit
import MediaBridge
import MediaCore

/// The images that an output writes: each in a file of its own, and the newest under the destination's name.
struct ImageWork: SegmentedWork {
  private let names: SegmentNames
  private let suffix: SegmentOptions.Suffix
  private let claim: FileClaim
  private var count = 0

  private(set) var files: [String] = []
  private(set) var bytes: Int64 = 0
  /// What is between two images is in none.
  let length: Duration? = nil

  init(_ names: SegmentNames, _ options: SegmentOptions, _ claim: FileClaim) {
    (self.names, self.claim) = (names, claim)
    suffix = options.suffix
  }

  mutating func take(_ media: MediaBuffer) throws(LiveKitError) -> Bool {
    let image = media.withUnsafeBytes { Array($0) }
    if suffix != .none {
      let path = names.path(names.segment(count, at: .now, names.ending ?? "jpeg"))
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
  func resume(_ options: SegmentOptions, _ clock: OutputClock, hasVideo: Bool) {}
}
