import ArgumentParser
import MediaBridge
import PipelineTemplates

/// Where pipeline templates are looked for: the same for every command that has some.
struct PipelineArguments: ParsableArguments {
  @Option(name: .customLong("pipelines"), help: Self.help)
  var folder: String?

  static let help = ArgumentHelp(
    """
    Folder of pipeline templates that go before those of $MEDIABRIDGE_PIPELINES, of ~/.config/mediabridge/pipelines, of the \
    installation (share/mediabridge/pipelines) or checkout, and inside the program
    """, valueName: "folder")

  func validate() throws { try Self.check(folder) }

  /// A folder that was asked for and cannot be used is said at once.
  static func check(_ folder: String?) throws {
    do { _ = try store(folder).list() } catch {
      throw ValidationError(folder.map { "--pipelines \($0): \(error)" } ?? "\(error)")
    }
  }

  var store: TemplateStore { Self.store(folder) }

  private static func store(_ folder: String?) -> TemplateStore {
    TemplateStore(searchPath: .ofProcess(explicit: folder))
  }
}
