import ArgumentParser
import Foundation
import MediaBridge

@main
struct MediaBridgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mediabridge",
    abstract: "Carries what is published in a LiveKit room on: into files, and to your own programs.",
    subcommands: [
      RecordCommand.self, WatchCommand.self, FramesCommand.self, DemoCommand.self, DevServerCommand.self,
      TokenCommand.self, PipelinesCommand.self, PublishTestCommand.self,
    ])
}
