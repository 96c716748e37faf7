import MediaBridge
import MediaCore
import PipelineTemplates

/// `NAME.vtt` beside a file of media: a kill leaves what was said before, at worst some of it twice. It is written on a
/// thread of its own: a disk that does not answer holds up whoever adds to it for a moment, and then nobody.
final class CaptionFile: Sendable {
  private struct State {
    var cues = CaptionList()
    /// Whether the file holds those, and no more.
    var isInStep = false
    /// Of all that have come.
    var count = 0
    var hasBegun = false
    /// Why something is not in it.
    var failure: LiveKitError?
  }

  let path: String
  private let claim: FileClaim
  private let disk = DiskLook(()) {}
  private let state = Locked(State())

  /// - Parameter claim: of that path.
  init(_ path: String, claim: FileClaim) { (self.path, self.claim) = (path, claim) }

  /// How many cues have come.
  var count: Int { state.withLock { $0.count } }
  var failure: LiveKitError? { state.withLock { $0.failure } }

  /// Makes a file without cues of it, once.
  func begin() {
    guard state.set(\.hasBegun, to: true) else { return }
    write { file throws(LiveKitError) in try file.claim.replace(with: Array(WebVTT.head.utf8)) }
  }

  /// Cues come in the order in which they end, and stand in that of their beginnings.
  func add(_ cue: CaptionCue) {
    begin()
    state.withLock { $0.count += 1 }
    write { file throws(LiveKitError) in
      switch file.state.withLock({ $0.cues.insert(cue, isInStep: $0.isInStep) }) {
      case .whole(let text): try file.claim.replace(with: Array(text.utf8))
      case .insertion(let text, let tail): try file.claim.append(Array(text.utf8), aheadOf: Array(tail.utf8))
      }
    }
  }

  private func write(_ body: @escaping @Sendable (CaptionFile) throws(LiveKitError) -> Void) {
    disk.perform { [self] in
      do throws(LiveKitError) {
        try body(self)
        state.withLock { $0.isInStep = true }
      } catch {
        state.withLock { $0.isInStep = false }
        note(error)
      }
    }
  }

  private func note(_ error: LiveKitError) {
    let error = LiveKitError(error.code, "\(path): \(error.message)", underlying: error)
    state.withLock { $0.failure = $0.failure ?? error }
  }

  /// Gives it back; one that has not begun goes.
  func release() {
    guard !disk.perform({ [claim] in claim.release() }) else { return }
    note(LiveKitError(.output, "the disk does not answer: what was said last may not be in it"))
  }
}

/// Where the captions of a destination's files lie.
struct CaptionPlace: Sendable {
  /// Whether another file has the same name but for its ending, so that theirs have the whole name.
  var keepsEnding = false

  /// `name.vtt`, or `name.mkv.vtt`.
  func path(beside destination: Destination) -> String {
    (keepsEnding ? destination.location : destination.stem) + ".vtt"
  }

  /// Takes the file beside one of media.
  func claim(beside destination: Destination) throws(LiveKitError) -> CaptionFile {
    let path = path(beside: destination)
    return CaptionFile(path, claim: try FileClaim.taken(path))
  }
}
