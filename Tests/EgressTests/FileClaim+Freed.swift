import BridgeTesting
import Foundation

@testable import Egress

extension FileClaim {
  /// Waits until a file that was given back is nobody's: the disk may take its time.
  static func untilFree(_ file: String) async throws {
    try await eventually("that \(file) is given back") {
      guard !isKnown(file) else { return false }
      // It is locked for a moment more.
      let descriptor = open(file, O_RDONLY)
      defer { close(descriptor) }
      return descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }
  }
}
