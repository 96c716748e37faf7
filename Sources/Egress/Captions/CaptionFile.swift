import MediaBridge
import MediaCore
import PipelineTemplates

/// `NAME.vtt` beside a file of media: whole at each moment, so that a kill leaves what was said before. It is written
/// on a thread of its own: a disk that does not answer holds up whoever adds to it for a moment, and then nobody.
final class CaptionFile: Sendable {
  private struct State {
    /// In the order of their beginnings, as far as they are written.
    var cues: [CaptionCue] = []
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
      let (text, isLast) = file.insert(cue)
      let bytes = Array(text.utf8)
      if isLast { try file.claim.append(bytes) } else { try file.claim.replace(with: bytes) }
    }
  }

  /// - Returns: what is to be written, and whether that is the end of the file alone.
  private func insert(_ cue: CaptionCue) -> (text: String, isLast: Bool) {
    state.withLock { state in
      let place = (state.cues.lastIndex { $0.start <= cue.start } ?? -1) + 1
      let isLast = place == state.cues.count
      state.cues.insert(cue, at: place)
      return (isLast ? WebVTT.text(of: cue) : WebVTT.file(of: state.cues), isLast)
    }
  }

  private func write(_ body: @escaping @Sendable (CaptionFile) throws(LiveKitError) -> Void) {
    disk.perform { [self] in
      do throws(LiveKitError) { try body(self) } catch { note(error) }
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
