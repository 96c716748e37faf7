import ArgumentParser
import Foundation
import MediaBridge
import PipelineTemplates

struct PipelinesDiff: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Print how the template in force differs from the one that ships, as diff -u does.")
  @OptionGroup var templates: PipelineArguments
  @Argument(help: "KIND/NAME such as output/mp4, or only the name") var name: String

  func run() async throws {
    try await templates.telling {
      let template = try templates.find(name)
      guard let shipped = try? templates.shipped.find(template.kind, template.name) else {
        throw Refusal(message: "\(template.file): no such template ships, from which it could differ")
      }
      let difference = UnifiedDiff(
        from: shipped.text, to: template.text, oldName: shipped.file, newName: template.file)
      guard !difference.description.isEmpty else {
        return Console(isJSON: false).say("\(template.file) is as it ships")
      }
      try Terminal.shared.copy(String(difference.description.dropLast()))
    }
  }
}

struct PipelinesEdit: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Change a pipeline template for yourself, in $VISUAL or $EDITOR, and check it.",
    discussion: """
      The template in force is copied to ~/.config/mediabridge/pipelines, or to the folder of --pipelines or \
      $MEDIABRIDGE_PIPELINES, where it goes before what ships. A template with a mistake stays as it is, and the mistake is told by \
      file and line. Outputs that run go on with a new template of output/ or encode/ from their next keyframe on.
      """)
  @OptionGroup var templates: PipelineArguments
  @Argument(help: "KIND/NAME such as output/mp4, or only the name") var name: String

  func run() async throws {
    try await templates.telling {
      let own = try templates.ownOf(name)
      guard try edit(own) else { return }
      try templates.check(own, Console(isJSON: false))
    }
  }

  /// - Returns: whether there is a template of one's own now. A mere copy would hide what ships, also what ships later.
  private func edit(_ own: OwnTemplate) throws -> Bool {
    guard !own.exists else {
      try Editor.ofEnvironment.edit(own.path)
      return true
    }
    let template = try templates.find("\(own.kind.rawValue)/\(own.name)")
    try own.create(template.text)
    let outcome = Result { try Editor.ofEnvironment.edit(own.path) }
    let isCopy = FileManager.default.contents(atPath: own.path) == Data(template.text.utf8)
    if isCopy { try FileManager.default.removeItem(atPath: own.path) }
    try outcome.get()
    if isCopy { Console(isJSON: false).say("Nothing was changed: \(template.file) stays in force.") }
    return !isCopy
  }
}

struct PipelinesNew: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Begin a pipeline template of your own.",
    discussion: """
      The template is made in ~/.config/mediabridge/pipelines, or in the folder of --pipelines or $MEDIABRIDGE_PIPELINES: a short one \
      that works and says what can be changed, or a copy of another one.
      """)
  @OptionGroup var templates: PipelineArguments
  @Option(help: ArgumentHelp("The template to copy, of the same kind", valueName: "kind/name")) var from: String?
  @Argument(help: "KIND/NAME such as output/mine") var name: String

  func validate() throws { _ = try PipelineArguments.parse(name) }

  func run() async throws {
    try await templates.telling {
      let (kind, name) = try PipelineArguments.parse(name)
      let own = try OwnTemplate(kind: kind, name: name, in: templates.ownFolder)
      if own.exists {
        throw Refusal(message: "\(own.path) is there already: `mediabridge pipelines edit \(kind.rawValue)/\(name)`")
      }
      let hidden = try? templates.store.find(kind, name)
      try own.create(try text(of: kind))
      let console = Console(isJSON: false)
      if let hidden { console.say("\(own.path) goes before \(hidden.file)") }
      try templates.check(own, console)
    }
  }

  private func text(of kind: TemplateKind) throws -> String {
    guard let from else { return TemplateDraft.text(of: kind) }
    let template = try templates.find(from)
    guard template.kind == kind else {
      throw Refusal(message: "\(template.kind.rawValue)/\(template.name) is no template of the kind \(kind.rawValue)")
    }
    return template.text
  }
}

/// Why nothing was written.
private struct Refusal: Error, CustomStringConvertible {
  var message: String
  var description: String { message }
}

extension PipelineArguments {
  /// What came with the program.
  var shipped: TemplateStore { TemplateStore(searchPath: store.searchPath.shipped) }

  fileprivate var ownFolder: TemplateSearchPath.Folder {
    get throws {
      guard let own = store.searchPath.own else {
        throw Refusal(message: "there is no home folder for it ($HOME is empty): name a folder with --pipelines")
      }
      return own
    }
  }

  /// The template of one's own that is in force, or that would be. It may be broken, and then only its name can be found.
  fileprivate func ownOf(_ name: String) throws -> OwnTemplate {
    let folder = try ownFolder
    if name.contains("/") {
      let (kind, name) = try Self.parse(name)
      return try OwnTemplate(kind: kind, name: name, in: folder)
    }
    let template = try find(name)
    return try OwnTemplate(kind: template.kind, name: template.name, in: folder)
  }

  /// Says what a template of one's own lacks; it is kept in any case.
  fileprivate func check(_ own: OwnTemplate, _ console: Console) throws {
    let result = try PipelineCheck(folder: folder).run(kind: own.kind.rawValue, name: own.name)
    guard let error = result.error else {
      return console.say(result.absence.map { "\(own.path): \($0)" } ?? "\(own.path) is ok")
    }
    console.fail(error)
    console.say("\(own.path) is kept as it is: `mediabridge pipelines edit \(result.name)` goes on with it")
    throw ExitCode.failure
  }

  /// What a file system refuses is told in a line.
  fileprivate func telling(_ body: () async throws -> Void) async throws {
    do { try await body() } catch let error as ExitCode { throw error } catch let error as ValidationError {
      throw error
    } catch {
      Console(isJSON: false).fail(error)
      throw ExitCode.failure
    }
  }
}
