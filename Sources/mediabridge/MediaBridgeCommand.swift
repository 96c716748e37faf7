import ArgumentParser
import Foundation
import MediaBridge
import MediaCore
import PipelineTemplates

@main
struct MediaBridgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mediabridge",
    abstract: "Carries what is published in a LiveKit room on: into files, and to your own programs.",
    version: "mediabridge \(MediaBridgeSDK.version)\n\(MediaBridgeSDK.gstreamerVersion)",
    subcommands: [
      RecordCommand.self, StreamCommand.self, RunCommand.self, WatchCommand.self, ViewCommand.self, FramesCommand.self,
      PCMCommand.self, PublishCommand.self, ProbeCommand.self, DemoCommand.self, DevServerCommand.self,
      TokenCommand.self, PipelinesCommand.self, PublishTestCommand.self, PublishFramesCommand.self,
      ManualCommand.self,
    ])

  /// On the main actor, whose thread runs this before the runtime opens anything.
  @MainActor static func main() async {
    holdStandardDescriptors()
    raiseDescriptorLimit()
    let arguments = Array(CommandLine.arguments.dropFirst())
    CommandLineSecrets.hide()
    shareHeaps()
    silenceOpenCV()
    shareSocketThread()
    if let mistake = mistake(in: arguments[...], of: self) ?? negativeValue(in: arguments) {
      refuse(mistake, arguments)
    }
    await perform(arguments)
  }

  /// As `main` of ArgumentParser does, but for its ends.
  private static func perform(_ arguments: [String]) async {
    do {
      var command: any ParsableCommand = try await asyncParseAsRoot(arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch { end(arguments, with: error) }
  }

  /// Ends with an error that was not told, or with the status of one that was.
  private static func end(_ arguments: [String], with error: any Error) -> Never {
    if error as? ExitCode == .failure { exit(withError: CommandCourse.status) }
    let (status, message) = (exitCode(for: error), message(for: error))
    guard status != .success, !message.isEmpty else { exit(withError: error) }
    let code: LiveKitError.Code? = status == .validationFailure ? .invalidParameter : (error as? LiveKitError)?.code
    tell(message, code, arguments)
    exit(withError: error)
  }

  private static func refuse(_ mistake: String, _ arguments: [String]) -> Never {
    tell(mistake, .invalidParameter, arguments)
    Terminal.shared.warn(PrintableText("mediabridge: \(mistake)"))
    Foundation.exit(ExitCode.validationFailure.rawValue)
  }

  /// Tells machines, too. Standard output of `frames` and `pcm` may carry media, and is left alone.
  private static func tell(_ message: String, _ code: LiveKitError.Code?, _ arguments: [String]) {
    let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
    guard isJSON, arguments.first != "frames", arguments.first != "pcm" else { return }
    Console(isJSON: true).event("failed", ["message": message, "code": code?.rawValue ?? "other"])
  }

  /// A name that is none of the commands: ArgumentParser calls it an unexpected argument, or blames an option after it.
  private static func mistake(
    in arguments: ArraySlice<String>, of command: any ParsableCommand.Type
  ) -> String? {
    let commands = command.configuration.subcommands
    guard !commands.isEmpty, let name = arguments.first, !name.hasPrefix("-") else { return nil }
    if name == "help" { return mistake(in: arguments.dropFirst(), of: command) }
    if let next = commands.first(where: { $0._commandName == name }) {
      return mistake(in: arguments.dropFirst(), of: next)
    }
    let names = commands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
    let advice =
      NearestName.of(name, in: names).map { "did you mean '\($0)'?" }
      ?? "the commands are \(names.joined(separator: ", "))"
    // Where a command is forgotten, it is a destination, which may hold a key.
    let destination = Destination(argument: name)
    return "there is no command '\(destination.isFile ? name : destination.shown)'; \(advice)"
  }

  /// Of an option: ArgumentParser takes it for another option, and says that a value is missing.
  private static func negativeValue(in arguments: [String]) -> String? {
    let arguments = arguments.prefix { $0 != "--" }
    for (option, value) in zip(arguments, arguments.dropFirst())
    where option.hasPrefix("--") && !option.contains("=") && value.wholeMatch(of: /-[0-9][0-9.hmskMG]*/) != nil {
      return "\(option) \(value): it takes no negative value; a name that begins with - is given as \(option)=\(value)"
    }
    return nil
  }
}
