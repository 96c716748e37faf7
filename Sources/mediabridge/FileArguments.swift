import ArgumentParser
import Egress
import MediaBridge

/// Options for what becomes of files.
struct FileArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Go on in another file, name-2.mp4 and so on, when one is as long as that, such as 10m; images and live playlists "
        + "are not cut", valueName: "time"),
    transform: duration(of:))
  var partDuration: Duration?

  @Option(
    help: ArgumentHelp(
      "Go on in another file when one is as large as that, such as 500M or 2G; images and live playlists are not cut",
      valueName: "size"),
    transform: bytes(of:))
  var partSize: Int64?

  @Option(
    help: ArgumentHelp(
      "End before all files together are larger than that, such as 2G", valueName: "size"),
    transform: bytes(of:))
  var maxSize: Int64?

  @Option(
    help: ArgumentHelp(
      "Shell command to run for each complete file or segment; $1 is its path, as in 'rclone copy \"$1\" store:talks'",
      valueName: "command"))
  var onComplete: String?

  @Flag(
    help: """
      Write FILE.json beside each file: tracks, loss, gaps, changes of codec, and who spoke when, under the names of \
      LiveKit Egress where it has them
      """)
  var manifest = false

  @Flag(
    help: """
      Write what is transcribed in the room while it runs, such as by an agent, as WebVTT: beside each file, NAME.vtt, in a \
      .mkv as a subtitle track, too, and beside a playlist as a rendition, which NAME_master.m3u8 names for players
      """)
  var captions = false

  func validate() throws {
    if let maxSize, maxSize < PartLimit.smallest {
      throw ValidationError("--max-size: give it at least \(PartLimit.smallest / 1000)k")
    }
    guard let onComplete, !Self.namesFile(onComplete) else { return }
    throw ValidationError(
      "--on-complete: '\(onComplete)' does not name the file: write \"$1\" where its path belongs, in single quotes "
        + "around the whole command")
  }

  /// Whether a shell's command has its file somewhere: a loop that names nothing is over what it was given.
  private static func namesFile(_ command: String) -> Bool {
    command.firstMatch(of: /\$\{?[1@*]|\bfor\s+\w+(?:\s*;|\s+do\b)/) != nil
  }

  var parts: PartLimit? {
    partDuration == nil && partSize == nil ? nil : PartLimit(duration: partDuration, bytes: partSize)
  }

  func completion(telling console: Console) -> CompletionCommand? {
    onComplete.map { CompletionCommand($0, console: console) }
  }
}

/// `500M`, `2G`, `800k` or plain bytes: the transform of every option that takes a size. As of files: k is 1000.
func bytes(of text: String) throws -> Int64 {
  let units: [Character: Double] = ["k": 1e3, "m": 1e6, "g": 1e9]
  let unit = text.lowercased().last.flatMap { units[$0] }
  guard let number = Double(unit == nil ? text : String(text.dropLast())) else { throw notASize }
  let bytes = number * (unit ?? 1)
  // More than any disk has, and still a number of bytes.
  guard bytes >= 0, bytes < 1e18 else { throw notASize }
  return Int64(bytes)
}

private var notASize: ValidationError { ValidationError("write a size such as 500M or 2G") }
