import ArgumentParser
import MediaBridge

/// The manual page, made of what the commands say of themselves in `--help`, in the macros of man(7).
struct ManualPage {
  private var lines: [String] = []
  private let program: CommandInfo
  /// What every command that joins a room takes, told once.
  private let roomArguments: [ArgumentInfo]

  init() throws {
    program = try CommandInfo(MediaBridgeCommand.self)
    roomArguments = try CommandInfo(RoomArguments.self).visibleArguments.filter { !$0.isGeneral }
    writeHead()
    section("COMMANDS")
    for command in program.leaves { write(command) }
    section("ROOM OPTIONS")
    paragraph("Every command that joins a room takes these.")
    for argument in roomArguments { write(argument) }
    section("GENERAL OPTIONS")
    for argument in program.visibleArguments { write(argument) }
    writeEnvironment()
    writeEnd()
  }

  var text: String { lines.joined(separator: "\n") + "\n" }

  private mutating func writeHead() {
    lines.append(".TH MEDIABRIDGE 1 \"\" \"mediabridge \(MediaBridgeSDK.version)\" \"User Commands\"")
    section("NAME")
    paragraph("\(program.fullName) - \((program.abstract ?? "").trimmedEnd)")
    section("SYNOPSIS")
    lines.append("\(bold(program.fullName)) \(italic("command")) [\(italic("options"))]")
  }

  private mutating func write(_ command: CommandInfo) {
    let joinsRoom = roomArguments.allSatisfy(command.visibleArguments.contains)
    let arguments = command.visibleArguments.filter { argument in
      !argument.isGeneral && !(joinsRoom && roomArguments.contains(argument))
    }
    let required = arguments.filter { !$0.isOptional }.map(synopsis)
    let options = (joinsRoom ? ["[\(italic("room options"))]"] : []) + ["[\(italic("options"))]"]
    lines.append(".SS \(([bold(command.fullName)] + options + required).joined(separator: " "))")
    paragraph(command.abstract)
    if let discussion = command.discussion {
      lines.append(".PP")
      paragraph(discussion)
    }
    for argument in arguments { write(argument) }
  }

  private mutating func write(_ argument: ArgumentInfo) {
    lines += [".TP", synopsis(argument)]
    let value = argument.defaultValue.map { " (default: \($0))" } ?? ""
    paragraph((argument.abstract ?? "") + value)
  }

  private mutating func writeEnvironment() {
    section("ENVIRONMENT")
    for argument in roomArguments {
      for name in argument.environment {
        lines += [".TP", bold(name), "Stands in for \(synopsis(argument))."]
      }
    }
    lines += [".TP", bold("MEDIABRIDGE_PIPELINES")]
    paragraph("A folder of pipeline templates that go before the user's own and the installed ones.")
  }

  private mutating func writeEnd() {
    section("FILES")
    lines += [".TP", italic("~/.config/mediabridge/pipelines/KIND/NAME.pipeline")]
    paragraph("Pipeline templates of the user's own, which go before the installed ones of the same kind and name.")
    section("EXIT STATUS")
    for (status, meaning) in [
      (ExitCode.success, "Everything that was asked for is there."),
      (ExitCode.failure, "Something is not; the last line on standard error says what, and what to do."),
      (ExitCode.validationFailure, "The command line has a mistake; nothing was done."),
    ] {
      lines += [".TP", bold("\(status.rawValue)")]
      paragraph(meaning)
    }
    section("SEE ALSO")
    lines.append("\(bold("gst-launch-1.0"))(1), \(bold("gst-inspect-1.0"))(1)")
  }

  private mutating func section(_ title: String) { lines.append(".SH \(title)") }

  /// One or several, with empty lines between them.
  private mutating func paragraph(_ text: String?) {
    for (index, part) in (text ?? "").split(separator: /\n{2,}/).enumerated() {
      if index > 0 { lines.append(".PP") }
      lines.append(Roff.escaped(String(part)))
    }
  }

  /// Such as `-v, --verbose`, `--url <url>` or `<file>`.
  private func synopsis(_ argument: ArgumentInfo) -> String {
    let value = italic("<\(argument.valueName ?? "value")>") + (argument.isRepeating ? "..." : "")
    let names = (argument.names ?? []).sorted { $0.text.count < $1.text.count }.map { bold($0.text) }
    return switch argument.kind {
    case .positional: value
    case .flag: names.joined(separator: ", ")
    case .option: names.joined(separator: ", ") + " " + value
    }
  }

  private func bold(_ text: String) -> String { "\\fB\(Roff.escaped(text))\\fR" }
  private func italic(_ text: String) -> String { "\\fI\(Roff.escaped(text))\\fR" }
}

enum Roff {
  /// Text that roff shows as it is (groff_man(7), "Portability"), in ASCII, whatever the reader's locale.
  static func escaped(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\\": "\\[rs]"
      case "-": "\\-"
      case "'": "\\[aq]"
      case "`": "\\[ga]"
      case "^": "\\[ha]"
      case "~": "\\[ti]"
      case "\n": " "
      case _ where scalar.isASCII: String(scalar)
      default: "\\[u\(String(scalar.value, radix: 16, uppercase: true).leftPadded(to: 4))]"
      }
    }.joined()
    // At the beginning of a line it would be a request.
    return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
  }
}

extension ArgumentInfo {
  /// `--help` and `--version`, which every command has.
  fileprivate var isGeneral: Bool { names?.contains { ["help", "version"].contains($0.name) } ?? false }
}

extension String {
  /// Without the full stop of a sentence.
  fileprivate var trimmedEnd: String { hasSuffix(".") ? String(dropLast()) : self }
  fileprivate func leftPadded(to count: Int) -> String {
    String(repeating: "0", count: max(0, count - self.count)) + self
  }
}
