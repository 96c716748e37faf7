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
  }

  private let branch: MixerBranch
  private let source: AppSource

  /// - Parameters:
  ///   - template: of the kind `tile`, with the appsrc `audio`.
  ///   - mixed: whose mixer is called `audiomix`.
  ///   - channel: other than both takes an element called `channels`.
  init(_ template: FilledTemplate, in mixed: Pipeline, channel: Channel) throws(PipelineError) {
    branch = try mixed.addBranch(template, toMixer: MixPipeline.audioMixer)
    do throws(PipelineError) {
      source = try branch.appSource(named: "audio")
      if let matrix = channel.matrix { try branch.element(named: "channels").set("mix-matrix", to: matrix) }
    } catch {
      branch.remove()
      throw error
    }
    branch.start()
  }

  /// Takes audio for its time; what comes too late for the mixer is dropped. It is not copied, and nobody waits.
  package func hear(_ audio: MediaBuffer, at time: MediaTime) { source.push(audio, pts: time) }

  /// When it returns it has no thread left.
  package func remove() { branch.remove() }
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
