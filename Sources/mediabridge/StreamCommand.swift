import ArgumentParser
import PipelineTemplates

/// `record` under the name of what it does where it goes to a live server.
struct StreamCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stream", abstract: "Carry a participant, or a whole room, to live servers.",
    discussion: """
      The same as `record`, with the same options, and with a live server at least: rtmp://HOST/APP/KEY, rtmps://, srt://HOST:PORT \
      or udp://HOST:PORT, beside which there may be files. What is sent as H.264 goes on as it is sent. A server that \
      goes away is tried again for --reconnect-for, while the others go on.
      """)

  @OptionGroup var recording: RecordingArguments

  func validate() throws {
    guard recording.destination.allSatisfy({ !Destination(argument: $0).isLive }) else { return }
    throw ValidationError(
      "there is no live server among the destinations; give an address such as rtmp://HOST/APP/KEY, or use 'record'")
  }

  func run() async throws { try await recording.run() }
}
