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

  func run() async throws {
    let template = try templates.find(name)
    do {
      let picture = GraphDrawing(try template.filledForShow(try values()), summary: template.summary).svg
      guard let output else { return try Terminal.shared.copy(String(picture.dropLast())) }
      try write(picture, to: output)
    } catch let error as ValidationError { throw error } catch {
      Console(isJSON: false).fail(error)
      throw ExitCode.failure
    }
  }

  private func write(_ picture: String, to file: String) throws(LiveKitError) {
    do { try Data(picture.utf8).write(to: URL(fileURLWithPath: file)) } catch {
      throw LiveKitError(.output, "\(file): \(error.systemReason)", fault: .destination)
    }
  }

  private func values() throws -> [String: String] {
    var values: [String: String] = [:]
    for pair in pairs {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, !parts[0].isEmpty else { throw ValidationError("--set \(pair): write name=value") }
      values[parts[0]] = parts[1]
    }
    return values
  }
}
