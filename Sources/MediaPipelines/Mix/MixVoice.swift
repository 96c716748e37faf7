package import GStreamerKit
package import MediaCore
import PipelineTemplates

/// A tile template at work in front of a mixer of audio.
package final class MixVoice: Sendable {
  /// Where it is heard.
  package enum Channel: Sendable {
    case both
    /// All of it there, and nothing in the other.
    case left, right

    /// The agreed name of what has it heard there.
    static let element = "channels"
  }

  /// Blocks of audio that are not heard.
  package struct Losses: Sendable, Equatable {
    /// Those that waited too long to be mixed.
    package var dropped = 0
    /// Those that came when their moment had been mixed already.
    package var late = 0
  }

  private let branch: MixerBranch
  private let source: AppSource
  private let delay: Duration
  private let late = Locked(0)

  /// - Parameters:
  ///   - template: of the kind `tile`, with the appsrc `audio`.
  ///   - mixed: whose mixer is called `audiomix`.
  ///   - channel: other than both takes an element called `channels`.
  ///   - delay: how long after it was a moment is mixed.
  ///   - onFailure: told what goes wrong in it, which it is then to be removed for; nil where that is an error of all that
  ///     is mixed.
  init(
    _ template: FilledTemplate, in mixed: Pipeline, channel: Channel, delay: Duration,
    onFailure: (@Sendable (PipelineFailure) -> Void)?
  ) throws(PipelineError) {
    self.delay = delay
    branch = try mixed.addBranch(template, toMixer: MixPipeline.audioMixer)
    branch.tell(onFailure, in: template)
    do throws(PipelineError) {
      source = try branch.appSource(named: "audio")
      if let matrix = channel.matrix { try branch.element(named: Channel.element).set("mix-matrix", to: matrix) }
    } catch {
      branch.remove()
      throw error
    }
    branch.start()
  }

  /// Takes audio for its time; what comes too late for the mixer is dropped there, and counted here. It is not copied, and
  /// nobody waits.
  package func hear(_ audio: MediaBuffer, at time: MediaTime) {
    if MediaTime.now - time - (audio.duration ?? .zero) > delay { late.withLock { $0 += 1 } }
    source.push(audio, pts: time)
  }

  package var losses: Losses { Losses(dropped: source.counters.dropped, late: late.withLock { $0 }) }

  /// - Returns: whether it has no thread left; false where an element of it hangs.
  @discardableResult
  package func remove() -> Bool { branch.remove() }

  /// Whether nothing is left of what was removed.
  package var hasStopped: Bool { branch.hasStopped }
}

extension MixVoice.Channel {
  /// What of left and right goes to the left, and to the right; nil for all as it is.
  fileprivate var matrix: String? {
    let (all, none) = ("<(float)0.5,(float)0.5>", "<(float)0,(float)0>")
    switch self {
    case .both: return nil
    case .left: return "<\(all),\(none)>"
    case .right: return "<\(none),\(all)>"
    }
  }
}
