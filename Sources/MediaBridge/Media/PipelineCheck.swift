import MediaPipelines
import PipelineTemplates

/// Builds every pipeline template that a search finds, without running it.
public struct PipelineCheck: Sendable {
  /// One template and what was found.
  public struct Result: Sendable {
    /// `KIND/NAME`.
    public let name: String
    /// What is wrong; nil when the template can be used, or only hardware or an optional package is missing.
    public let error: LiveKitError?
    /// Why the template cannot be used on this machine though nothing is wrong with it: its hardware is not here, or a
    /// package that most do without. Only its text was looked at then.
    public let absence: String?
  }

  private let factory: PipelineFactory

  /// - Parameter folder: searched before the usual places; nil for those only.
  public init(folder: String?) { factory = PipelineFactory(folder: folder) }

  /// Builds each template that no other hides, and runs none.
  /// - Throws: `template` when the folder cannot be used.
  public func run() throws(LiveKitError) -> [Result] {
    try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.list() }.filter { $0.shadowedBy == nil }.map {
      check($0.kind, $0.name)
    }
  }

  /// The same for the one of these templates that is called so.
  /// - Throws: `invalidParameter` for a name that is none.
  public func run(kind: String, name: String) throws(LiveKitError) -> Result {
    guard let kind = TemplateKind(rawValue: kind) else {
      throw LiveKitError(.invalidParameter, "'\(kind)' is no kind of template")
    }
    return check(kind, name)
  }

  /// A value stands in for what only a recording knows.
  private func check(_ kind: TemplateKind, _ name: String) -> Result {
    let title = "\(kind.rawValue)/\(name)"
    let isAddress = [.output, .capture].contains(kind) && Destination.addressTemplates.contains(name)
    let location = isAddress ? "\(name)://127.0.0.1:5000/app/key" : "/dev/null"
    do {
      let filled = try factory.fill(kind, name, values: ["location": location, "host": "127.0.0.1", "port": "5000"])
      if let absence = absence(filled) { return Result(name: title, error: nil, absence: absence) }
      _ = try factory.make(filled, filled.description(withAudio: [2]))
      return Result(name: title, error: nil, absence: nil)
    } catch {
      return Result(name: title, error: LiveKitError(error), absence: nil)
    }
  }

  /// Nil where something else is missing as well, which can be put right.
  private func absence(_ filled: FilledTemplate) -> String? {
    let missing = filled.missingElements
    guard !missing.isEmpty, missing.allSatisfy({ ElementPackage.isHardware($0) || ElementPackage.isOptional($0) })
    else { return nil }
    return missing.map { "no \($0) here: \(ElementPackage.advice(forElement: $0))" }.joined(separator: "; ")
  }
}
