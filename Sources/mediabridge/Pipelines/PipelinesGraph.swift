import ArgumentParser
import Foundation
import MediaBridge
import MediaCore
import PipelineTemplates

struct PipelinesGraph: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph", abstract: "Draw a pipeline template with its values, as SVG.",
    discussion: """
      Elements that mediabridge finds by their names are marked. A value that only a recording knows, such as the location of a \
      file, stands there in capitals.
      """)
  @OptionGroup var templates: PipelineArguments
  @Option(
    name: .customLong("set"),
    help: ArgumentHelp("Value for a variable of the template, again for another one", valueName: "name=value"))
  var pairs: [String] = []
  @Option(help: ArgumentHelp("File for the picture instead of standard output", valueName: "file"), completion: .file())
  var output: String?
  @Argument(help: "KIND/NAME such as output/mp4, or only the name") var name: String

  func validate() throws { _ = try SetArguments.values(of: pairs) }

  func run() async throws {
    let template = try templates.find(name)
    do {
      let values = try SetArguments.values(of: pairs)
      let picture = GraphDrawing(try template.filledForShow(values), summary: template.summary).svg
      guard let output else { return try Terminal.shared.copy(String(picture.dropLast())) }
      try write(picture, to: output)
    } catch {
      Console(isJSON: false).fail(error)
      // The template was read: what it does not take are values.
      throw error is TemplateError ? ExitCode.validationFailure : .failure
    }
  }

  private func write(_ picture: String, to file: String) throws(LiveKitError) {
    do { try Data(picture.utf8).write(to: URL(fileURLWithPath: file)) } catch {
      throw LiveKitError(.output, "\(file): \(error.systemReason)", fault: .destination)
    }
  }
}
