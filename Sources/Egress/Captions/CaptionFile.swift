import MediaBridge
import MediaCore
import PipelineTemplates

/// `NAME.vtt` beside a file of media: whole at each moment, so that a kill leaves what was said before.
final class CaptionFile: Sendable {
  private struct State {
    /// In the order of their beginnings.
    var cues: [CaptionCue] = []
    var hasBegun = false
    /// Why something is not in it.
    var failure: LiveKitError?
  }

  let path: String
  private let claim: FileClaim
  private let state = Locked(State())

  /// - Parameter claim: of that path.
  init(_ path: String, claim: FileClaim) { (self.path, self.claim) = (path, claim) }

  /// How many cues are in it.
  var count: Int { state.withLock { $0.cues.count } }
  var failure: LiveKitError? { state.withLock { $0.failure } }

  /// Makes a file without cues of it, once.
  func begin() {
    state.withLock { state in
      guard !state.hasBegun else { return }
      state.hasBegun = true
      note(&state) { () throws(LiveKitError) in try claim.replace(with: Array(WebVTT.head.utf8)) }
    }
  }

  /// Cues come in the order in which they end, and stand in that of their beginnings.
  func add(_ cue: CaptionCue) {
    begin()
    state.withLock { state in
      let place = (state.cues.lastIndex { $0.start <= cue.start } ?? -1) + 1
      let isLast = place == state.cues.count
      state.cues.insert(cue, at: place)
      let text = isLast ? WebVTT.text(of: cue) : WebVTT.file(of: state.cues)
      note(&state) { () throws(LiveKitError) in
        try isLast ? claim.append(Array(text.utf8)) : claim.replace(with: Array(text.utf8))
      }
    }
  }

  private func note(_ state: inout State, _ body: () throws(LiveKitError) -> Void) {
    do throws(LiveKitError) { try body() } catch {
      state.failure = state.failure ?? LiveKitError(error.code, "\(path): \(error.message)", underlying: error)
    }
  }

  /// Gives it back; one that has not begun goes.
  func release() { claim.release() }
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
    return CaptionFile(path, claim: try FileClaim(path))
  }
}
