package import GStreamerKit
package import MediaCore
import PipelineTemplates

/// A tile template at work in front of a mixer of audio.
package final class MixVoice: Sendable {
  private let branch: MixerBranch
  private let source: AppSource

  /// - Parameters:
  ///   - template: of the kind `tile`, with the appsrc `audio`.
  ///   - mixed: whose mixer is called `audiomix`.
  init(_ template: FilledTemplate, in mixed: Pipeline) throws(PipelineError) {
    branch = try mixed.addBranch(template, toMixer: MixPipeline.audioMixer)
    do throws(PipelineError) { source = try branch.appSource(named: "audio") } catch {
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
