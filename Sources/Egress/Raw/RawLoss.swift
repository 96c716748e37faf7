import Foundation
package import MediaBridge

/// What a file or a folder lacks of what came, which it was to hold all of, and why. Pure.
package struct RawLoss: Sendable {
  /// How it is counted.
  package enum Unit: Sendable {
    case frames
    /// So many a second.
    case samples(rate: Int)
  }

  private let unit: Unit
  private let dropped: Int
  private let passedOver: Int

  /// - Parameters:
  ///   - dropped: what waited for the disk until there was no memory for it.
  ///   - passedOver: what this machine was too slow to make.
  package init(_ unit: Unit, dropped: Int, passedOver: Int) {
    (self.unit, self.dropped, self.passedOver) = (unit, dropped, passedOver)
  }

  /// Nil where nothing is missing.
  /// - Parameter name: of the file or folder.
  package func failure(of name: String) -> LiveKitError? {
    var lacks: [String] = []
    if dropped > 0 { lacks.append("\(amount(dropped)), since its disk was too slow: \(advice.disk)") }
    if passedOver > 0 { lacks.append("\(amount(passedOver)), since this machine was too slow: \(advice.machine)") }
    guard !lacks.isEmpty else { return nil }
    return LiveKitError(
      .output, "\(name): \(lacks.joined(separator: "; "))", fault: dropped > 0 ? .destination : .machine)
  }

  private func amount(_ count: Int) -> String {
    switch unit {
    case .frames: count == 1 ? "1 frame is missing" : "\(count) frames are missing"
    case .samples(let rate): String(format: "%.2f s of audio are missing", Double(count) / Double(rate))
    }
  }

  /// What to do about each.
  private var advice: (disk: String, machine: String) {
    switch unit {
    case .frames:
      (
        "choose a faster one, or give a lower --fps or a smaller --size",
        "give a lower --fps, a smaller --size or a cheaper --format"
      )
    case .samples: ("choose a faster one", "have it do less at the same time")
    }
  }
}
