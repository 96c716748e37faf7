import GStreamerKit
import MediaPipelines
import PipelineTemplates

// A receive template is made in parts: what every consumer needs at once, and each output that hangs on a tee when
// somebody wants it.
extension PipelineFactory {
  /// Builds a receive template without its outputs.
  func makeReceiver(_ name: String, values: [String: String]) throws(LiveKitError) -> TemplatePipeline {
    return try LiveKitError.wrapping { () throws(PipelineFailure) in
      let filled = try fill(.receive, name, values: values)
      return try make(filled, filled.trunk(withoutBranches: ReceivePipeline.Output.allCases.map(\.rawValue)))
    }
  }
}

extension TemplatePipeline {
  func packetInput(
    _ name: String, onKeyframeRequest: @escaping @Sendable () -> Void
  ) throws(LiveKitError) -> PacketInput {
    do { return try pipeline.packetInput(named: name, onKeyframeRequest: onKeyframeRequest) } catch {
      throw LiveKitError(error, in: template)
    }
  }

  /// The tees on which outputs hang, by name.
  func tees(_ dependence: KeptGroup<MediaBuffer>.Dependence) throws(LiveKitError) -> [String: ReceiveTee] {
    var tees: [String: ReceiveTee] = [:]
    for output in ReceivePipeline.Output.allCases {
      guard let name = template.branch(endingIn: output.rawValue)?.tee, tees[name] == nil else { continue }
      do { tees[name] = try ReceiveTee(pipeline: pipeline, name: name, dependence) } catch {
        throw LiveKitError(error, in: template)
      }
    }
    return tees
  }

  /// The branch that ends in the sink of that name, not yet linked; nil when the template has none.
  /// - Parameter inlet: decides what the branch gets, which has a thread of its own then; nil for all.
  func branch(to sink: String, _ inlet: BranchInlet?) throws(LiveKitError) -> TeeBranch? {
    guard let branch = template.branch(endingIn: sink) else { return nil }
    do {
      return try pipeline.makeBranch(
        description: branch.description, behindTee: branch.tee, locate: template.location(atOffset:), inlet: inlet)
    } catch {
      throw LiveKitError(error, in: template)
    }
  }

  func sink(
    _ name: String, of branch: TeeBranch, onBuffer: @escaping @Sendable (MediaBuffer) -> Void
  ) throws(LiveKitError) {
    do { try branch.appSink(named: name, describe: \.completingColors, onBuffer: onBuffer) } catch {
      throw LiveKitError(error, in: template)
    }
  }

  func lacks(_ sink: String) -> LiveKitError {
    LiveKitError(
      .template, "\(template.file): nothing in it is called \(sink), which is wanted of it; add an appsink of that name"
    )
  }
}
