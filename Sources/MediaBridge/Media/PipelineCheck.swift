import PipelineTemplates

/// Builds every pipeline text that a search finds, without running it.
public struct PipelineCheck: Sendable {
  public struct Result: Sendable {
    /// `KIND/NAME`.
    public let name: String
    /// What is wrong; nil when the text can be used.
    public let error: LiveKitError?
  }

  private let factory: PipelineFactory

  public init(folder: String?) { factory = PipelineFactory(folder: folder) }

  /// - Throws: `template` when the folder cannot be used.
  public func run() throws(LiveKitError) -> [Result] {
    try factory.list().filter { $0.shadowedBy == nil }.map { entry in
      Result(name: "\(entry.kind.rawValue)/\(entry.name)", error: check(entry))
    }
  }

  /// A value stands in for what only a recording knows.
  private func check(_ entry: TemplateStore.Entry) -> LiveKitError? {
    do throws(LiveKitError) {
      _ = try factory.make(entry.kind, entry.name, values: ["location": "/dev/null"])
      return nil
    } catch {
      return error
    }
  }
}
