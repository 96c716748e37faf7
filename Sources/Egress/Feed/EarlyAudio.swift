import GStreamerKit
import MediaCore

/// Audio that comes ahead of what a job begins with, and may be of its first moments: who speaks is there sooner than the mix,
/// and on a busy machine audio is there sooner than frames. Pure.
struct EarlyAudio: Sendable {
  /// What came.
  struct Block: Sendable {
    var media: MediaBuffer
    /// Of whom alone; nil for all.
    var voice: Int?
    var isRaw: Bool
    var time: MediaTime
  }

  /// As long as a frame is waited for that a job is to begin with.
  private static let longest = Duration.seconds(10)
  private static let slack = Duration.seconds(1)
  private var blocks: [Block] = []
  var isEmpty: Bool { blocks.isEmpty }

  mutating func keep(_ block: Block) {
    blocks.append(block)
    // Not for each block that comes.
    guard let first = blocks.first, block.time - first.time > Self.longest + Self.slack else { return }
    blocks.removeAll { block.time - $0.time > Self.longest }
  }

  /// All that is kept, which is nothing afterwards.
  mutating func take() -> [Block] {
    defer { blocks = [] }
    return blocks
  }
}
