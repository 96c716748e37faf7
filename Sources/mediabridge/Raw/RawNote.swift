import Egress
import MediaCore

/// A line of `--info`.
typealias InfoFields = [String: any Sendable]

/// What is written, and what is said of it when it is.
typealias RawPiece = RawQueue<RawNote>.Piece
typealias RawLimits = RawQueue<RawNote>.Limits

/// What is said of a piece when it goes to the reader, or does not.
struct RawNote: Sendable {
  /// What `--info` says.
  var fields: InfoFields
  /// How much it is: one frame, or so many samples.
  var count = 1
  /// Of the stream that has made it.
  let tally: RawTally
}

/// What has become of what one stream has made, whoever else writes to its reader.
final class RawTally: Sendable {
  private let state = Locked((written: 0, dropped: 0))

  var counts: (written: Int, dropped: Int) { state.withLock { $0 } }

  func note(_ fate: RawOutput.Fate, _ note: RawNote) {
    state.withLock { state in
      switch fate {
      case .written: state.written += note.count
      case .dropped: state.dropped += note.count
      case .lost: state.written -= note.count
      }
    }
  }
}
