import MediaPipelines
import PipelineTemplates

/// Builds every pipeline template that a search finds, without running it.
public struct PipelineCheck: Sendable {
  /// One template and what was found.
  public struct Result: Sendable {
    /// `KIND/NAME`.
    public let name: String
    /// What is wrong; nil when the template can be used.
    public let error: LiveKitError?
  }

  private let factory: PipelineFactory

  /// - Parameter folder: searched before the usual places; nil for those only.
  public init(folder: String?) { factory = PipelineFactory(folder: folder) }

  /// Builds each template that no other hides, and runs none.
  /// - Throws: `template` when the folder cannot be used.
  public func run() throws(LiveKitError) -> [Result] {
    try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.list() }.filter { $0.shadowedBy == nil }.map {
      entry in
      Result(name: "\(entry.kind.rawValue)/\(entry.name)", error: check(entry))
    }
  }

  /// A value stands in for what only a recording knows.
  private func check(_ entry: TemplateStore.Entry) -> LiveKitError? {
    let isAddress = entry.kind == .output && Destination.addressTemplates.contains(entry.name)
    let location = isAddress ? "\(entry.name)://127.0.0.1:5000/app/key" : "/dev/null"
    do {
      let filled = try factory.fill(
        entry.kind, entry.name, values: ["location": location, "host": "127.0.0.1", "port": "5000"])
      _ = try factory.make(filled, filled.description(withAudio: [2]))
      return nil
    } catch {
      return LiveKitError(error)
    }
  }
}
