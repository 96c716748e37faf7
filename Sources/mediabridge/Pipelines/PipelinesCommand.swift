import ArgumentParser
import Egress
import Foundation
import MediaBridge
import MediaPipelines
import PipelineTemplates

struct PipelinesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipelines", abstract: "List, show, check, draw and change the pipeline templates.",
    subcommands: [
      List.self, Show.self, Check.self, PipelinesDiff.self, PipelinesEdit.self, PipelinesNew.self, PipelinesGraph.self,
    ])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List every pipeline template with its first line, and what it lacks on this machine.")
    @OptionGroup var templates: PipelineArguments

    func run() async throws {
      let console = Console(isJSON: false)
      let findings = try templates.store.list()
      // Behind an installation or a checkout all of them are inside the program once more.
      let entries = findings.entries.filter { $0.shadowedBy == nil || $0.folder.source != .builtIn }
      let names = entries.map { "\($0.kind.rawValue)/\($0.name)" }
      let width = (names.map(\.count).max() ?? 0) + 1
      for (entry, name) in zip(entries, names) {
        let template = try? templates.store.read(entry)
        let summary = template?.summary ?? "(cannot be read)"
        let gap = String(repeating: " ", count: width - name.count)
        console.say(name + gap + summary + (entry.shadowedBy.map { "  [hidden by \($0)]" } ?? ""))
        if entry.shadowedBy == nil { template.map { tellMissing(of: $0, indent: width, console) } }
      }
      for refusal in findings.refusals { console.say("\(refusal)") }
      Terminal.shared.drain()
    }

    private func tellMissing(of template: Template, indent width: Int, _ console: Console) {
      for element in (try? template.filledForShow())?.missingElements ?? [] {
        let indent = String(repeating: " ", count: width)
        console.say("\(indent)[not here: no \(element); \(ElementPackage.advice(forElement: element))]")
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print a pipeline template, its file, and its variables with their defaults and units.")
    @OptionGroup var templates: PipelineArguments
    @Argument(help: "KIND/NAME such as output/mp4, or only the name") var name: String

    func run() async throws {
      let template = try templates.find(name)
      let console = Console(isJSON: false)
      console.say("# file: \(template.file)")
      for variable in template.variables { console.say("# variable: \(variable.spoken)") }
      for line in feeds(of: template) { console.say("# \(line)") }
      try Terminal.shared.copy(template.text)
    }

    /// What an output template is fed, and why; whatever is wrong with one is for `check` to say.
    private func feeds(of template: Template) -> [String] {
      guard template.kind == .output else { return [] }
      let options = RecordingOptions(file: "udp://127.0.0.1:5000", output: template.name)
      let found = try? OutputTemplates(of: options.destinations[0], folder: templates.folder)
      return found.flatMap { try? OutputFeeds.of(options, [$0], folder: templates.folder).first?.lines } ?? []
    }
  }

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Build every pipeline template and say what is wrong or missing, without a room.",
      discussion: "A template for hardware or for an optional package that is not here is named, and is no failure.")
    @OptionGroup var templates: PipelineArguments

    func run() async throws {
      ConsoleLog.start(isVerbose: false)
      let results = try PipelineCheck(folder: templates.folder).run()
      let console = Console(isJSON: false)
      for result in results { console.say(result.line) }
      for case let error? in results.map(\.error) { console.fail(error) }
      Terminal.shared.drain()
      if results.contains(where: { $0.error != nil }) { throw ExitCode.failure }
    }
  }
}

extension PipelineCheck.Result {
  var line: String {
    if let absence { return "absent \(name): \(absence)" }
    return "\(error == nil ? "ok     " : "failed ")\(name)"
  }
}

extension TemplateVariable {
  /// With default and unit.
  fileprivate var spoken: String {
    var remarks = [defaultValue.map { $0.isEmpty ? "default empty" : "default \($0)" } ?? "required"]
    if let unit { remarks.append(unit) }
    return "\(name) (\(remarks.joined(separator: ", ")))"
  }
}

extension Template {
  /// With its defaults; what only a recording knows stands there as the variable's name in capitals.
  func filledForShow(_ values: [String: String] = [:]) throws -> FilledTemplate {
    let required = variables.filter { $0.defaultValue == nil }.map { ($0.name, $0.name.uppercased()) }
    return try fill(Dictionary(uniqueKeysWithValues: required).merging(values) { $1 })
  }
}

extension PipelineArguments {
  /// The template that a person named, as KIND/NAME or NAME alone.
  func find(_ name: String, in store: TemplateStore? = nil) throws -> Template {
    let store = store ?? self.store
    let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
    do {
      if parts.count == 2, let kind = TemplateKind(rawValue: parts[0]) { return try store.find(kind, parts[1]) }
      if parts.count == 2 { throw Self.noKind(parts[0], in: name) }
      let found = try store.list().entries.filter { $0.name == name && $0.shadowedBy == nil }
      if found.count > 1 {
        let kinds = found.map { "\($0.kind.rawValue)/\(name)" }.joined(separator: " or ")
        throw ValidationError("'\(name)' is the name of several: say \(kinds)")
      }
      return try store.find(found.first?.kind ?? .output, name)
    } catch {
      // Not as a mistake of the command line, whose usage would be told along.
      Console(isJSON: false).fail(error)
      throw Self.isMistake(error) ? ExitCode.validationFailure : .failure
    }
  }

  /// Whether it is the name that is wrong, and no template.
  private static func isMistake(_ error: any Error) -> Bool {
    switch error as? TemplateStore.Failure {
    case .notFound, .badName: true
    default: error is ValidationError
    }
  }

  /// KIND/NAME of a text that need not be there.
  static func parse(_ name: String) throws -> (kind: TemplateKind, name: String) {
    let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { throw ValidationError("'\(name)': write KIND/NAME, such as output/mine") }
    guard let kind = TemplateKind(rawValue: parts[0]) else { throw noKind(parts[0], in: name) }
    return (kind, parts[1])
  }

  private static func noKind(_ kind: String, in name: String) -> ValidationError {
    let kinds = TemplateKind.allCases.map(\.rawValue)
    let nearest = NearestName.of(kind, in: kinds).map { "did you mean '\($0)'?" }
    return ValidationError(
      "'\(name)': there is no kind of template '\(kind)'; \(nearest ?? "there are: \(kinds.joined(separator: ", "))")")
  }
}
