import ArgumentParser
import Egress
import Foundation
import MediaBridge
import PipelineTemplates

struct PipelinesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipelines", abstract: "List, show and check the pipeline templates.",
    subcommands: [List.self, Show.self, Check.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List every pipeline template with its first line.")
    @OptionGroup var templates: PipelineArguments

    func run() async throws {
      let console = Console(isJSON: false)
      let findings = try templates.store.list()
      // Behind an installation or a checkout all of them are inside the program once more.
      for entry in findings.entries where entry.shadowedBy == nil || entry.folder.source != .builtIn {
        let name = "\(entry.kind.rawValue)/\(entry.name)".padding(toLength: 28, withPad: " ", startingAt: 0)
        let summary = (try? templates.store.read(entry).summary) ?? "(cannot be read)"
        console.say(name + summary + (entry.shadowedBy.map { "  [hidden by \($0)]" } ?? ""))
      }
      for refusal in findings.refusals { console.say("\(refusal)") }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print a pipeline template, its file and its variables.")
    @OptionGroup var templates: PipelineArguments
    @Argument(help: "KIND/NAME such as output/mp4, or only the name") var name: String

    func run() async throws {
      let template = try find()
      let console = Console(isJSON: false)
      console.say("# file: \(template.file)")
      for variable in template.variables {
        console.say("# variable: \(variable.name)\(variable.defaultValue.map { " (default \($0))" } ?? " (required)")")
      }
      for line in feeds(of: template) { console.say("# \(line)") }
      Terminal.shared.copy(template.text)
    }

    /// What an output template is fed, and why; whatever is wrong with one is for `check` to say.
    private func feeds(of template: Template) -> [String] {
      guard template.kind == .output else { return [] }
      let options = RecordingOptions(file: "udp://127.0.0.1:5000", output: template.name)
      let found = try? OutputTemplates(of: options.destinations[0], folder: templates.folder)
      return found.flatMap { try? OutputFeeds.of(options, [$0], folder: templates.folder).first?.lines } ?? []
    }

    private func find() throws -> Template {
      let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
      do {
        if parts.count == 2, let kind = TemplateKind(rawValue: parts[0]) {
          return try templates.store.find(kind, parts[1])
        }
        let found = try templates.store.list().entries.filter { $0.name == name && $0.shadowedBy == nil }
        if found.count > 1 {
          let kinds = found.map { "\($0.kind.rawValue)/\(name)" }.joined(separator: " or ")
          throw ValidationError("'\(name)' is the name of several: say \(kinds)")
        }
        return try templates.store.find(found.first?.kind ?? .output, name)
      } catch let error as TemplateStore.Failure {
        Console(isJSON: false).fail(error)
        throw ExitCode.failure
      }
    }
  }

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Build every pipeline template and say what is wrong or missing, without a room.")
    @OptionGroup var templates: PipelineArguments

    func run() async throws {
      ConsoleLog.start(isVerbose: false)
      let results = try PipelineCheck(folder: templates.folder).run()
      let console = Console(isJSON: false)
      for result in results { console.say("\(result.error == nil ? "ok     " : "failed ")\(result.name)") }
      for case let error? in results.map(\.error) { console.fail(error) }
      if results.contains(where: { $0.error != nil }) { throw ExitCode.failure }
    }
  }
}
