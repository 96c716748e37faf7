import ArgumentParser
import PipelineTemplates

typealias RecordCommand = RecordingCommand<IntoFiles>
typealias StreamCommand = RecordingCommand<ToLiveServers>

/// What tells `record` and `stream` apart.
protocol RecordingPurpose {
  static var configuration: CommandConfiguration { get }
  /// - Throws: what those destinations are not for.
  static func check(_ destinations: [String]) throws
}

enum IntoFiles: RecordingPurpose {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Record a participant, or a whole room, into files that play.",
    discussion: """
      A destination is [NAME=]LOCATION: the output template NAME writes it, without NAME the one that is called as the \
      file's name ends, or as the scheme of an address: rtmp://, srt://, udp://. Several are written at once; those \
      that want the same share an encoder, and one that fails leaves the others going on. .mkv and .webm keep what was sent; .mp4 keeps H.264, turns other video into H.264 \
      and audio into AAC. `mediabridge pipelines show output/NAME` says what a template takes. The file has video and \
      audio from its first moment to its last: where the participant sends nothing it is silent, black while the \
      camera is muted or gone, and holds the last frame while a connection is lost. Ctrl-C ends the recording with a \
      complete file.

      A file holds one video and one audio: the camera before a screen share, the microphone before the screen \
      share's audio, unless --source or --track says otherwise. What else the participant publishes is named, and \
      left out. The exit status is 0 when all that was asked for is in every file.

      --composite mixes the whole room: everybody's video in one frame, laid out as LiveKit Egress does, and everybody's \
      audio. The metadata {"layout": "speaker"} of the recording participant changes the layout while it runs.

      On a terminal, lines that are typed while it runs change it: +LOCATION adds a destination, -LOCATION completes one, \
      l LAYOUT lays the room out anew, t TEXT shows a label (t alone takes it away), p pauses and goes on, and q ends the recording. A program does the same with \
      --control, and SIGUSR1 pauses and goes on. What is paused is cut out of video and audio alike, and does not count for \
      --duration; a live server would take it for a loss, so a recording that has one is not paused.
      """)

  static func check(_ destinations: [String]) {}
}

/// `record` under the name of what it does where it goes to a live server.
enum ToLiveServers: RecordingPurpose {
  static let configuration = CommandConfiguration(
    commandName: "stream", abstract: "Carry a participant, or a whole room, to live servers.",
    discussion: """
      The same as `record`, with the same options, and with a live server at least: rtmp://HOST/APP/KEY, rtmps://, srt://HOST:PORT \
      or udp://HOST:PORT, beside which there may be files. What is sent as H.264 goes on as it is sent. A server that \
      goes away is tried again for --reconnect-for, while the others go on.
      """)

  static func check(_ destinations: [String]) throws {
    guard destinations.allSatisfy({ !Destination(argument: $0).isLive }) else { return }
    throw ValidationError(
      "there is no live server among the destinations; give an address such as rtmp://HOST/APP/KEY, or use 'record'")
  }
}
