import ArgumentParser
import Foundation
import MediaBridge
import PipelineTemplates

struct PipelinesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipelines", abstract: "List, show and check the pipeline texts.",
    subcommands: [List.self, Show.self, Check.self])

  struct Folder: ParsableArguments {
    @Option(help: "Folder of pipeline texts that go before the usual ones") var pipelines: String?

    func validate() throws {
      guard let pipelines, !FileManager.default.fileExists(atPath: pipelines) else { return }
      throw ValidationError("--pipelines \(pipelines): there is no such folder")
    }

    var store: TemplateStore { TemplateStore(searchPath: .ofProcess(explicit: pipelines)) }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List every pipeline text with its first line.")
    @OptionGroup var folder: Folder

    func run() async throws {
      for entry in folder.store.list() {
        let name = "\(entry.kind.rawValue)/\(entry.name)".padding(toLength: 28, withPad: " ", startingAt: 0)
        let summary = (try? folder.store.read(entry).summary) ?? "(cannot be read)"
        print(name + summary + (entry.shadowedBy.map { "  [hidden by \($0)]" } ?? ""))
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print a pipeline text, its file and its variables.")
    @OptionGroup var folder: Folder
    @Argument(help: "KIND/NAME such as output/mp4, or only the name") var name: String

    func run() async throws {
      let template = try find()
      print("# file: \(template.file)")
      for variable in template.variables {
        print("# variable: \(variable.name)\(variable.defaultValue.map { " (default \($0))" } ?? " (required)")")
      }
      print(template.text)
    }

    private func find() throws -> Template {
      let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
      do {
        if parts.count == 2, let kind = TemplateKind(rawValue: parts[0]) {
          return try folder.store.find(kind, parts[1])
        }
        let found = folder.store.list().filter { $0.name == name && $0.shadowedBy == nil }
        if found.count > 1 {
          let kinds = found.map { "\($0.kind.rawValue)/\(name)" }.joined(separator: " or ")
          throw ValidationError("'\(name)' is the name of several: say \(kinds)")
        }
        return try folder.store.find(found.first?.kind ?? .output, name)
      } catch let error as TemplateStore.Failure {
        Console(isJSON: false).fail(error)
        throw ExitCode.failure
      }
    }
  }

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Build every pipeline text and say what is wrong or missing, without a room.")
    @OptionGroup var folder: Folder

    func run() async throws {
      let results = PipelineCheck(folder: folder.pipelines).run()
      for result in results { print("\(result.error == nil ? "ok     " : "failed ")\(result.name)") }
      for case let error? in results.map(\.error) { Console(isJSON: false).fail(error) }
      if results.contains(where: { $0.error != nil }) { throw ExitCode.failure }
    }
  }
}
