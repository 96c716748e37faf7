import ArgumentParser
import Foundation

/// A command as ArgumentParser describes it to tools, in `--experimental-dump-help`.
struct CommandInfo: Decodable {
  var superCommands: [String]?
  var commandName: String
  var abstract: String?
  var discussion: String?
  var shouldDisplay: Bool
  var arguments: [ArgumentInfo]?
  var subcommands: [CommandInfo]?

  init(_ type: any ParsableArguments.Type) throws {
    struct Tool: Decodable {
      var command: CommandInfo
    }
    self = try JSONDecoder().decode(Tool.self, from: Data(type._dumpHelp().utf8)).command
  }

  /// With the commands above it.
  var fullName: String { ((superCommands ?? []) + [commandName]).joined(separator: " ") }

  /// Those that do something, without the hidden ones and `help`, in the order of `--help`.
  var leaves: [CommandInfo] {
    (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }.flatMap { command in
      command.subcommands == nil ? [command] : command.leaves
    }
  }

  /// What it takes, without what is hidden.
  var visibleArguments: [ArgumentInfo] { (arguments ?? []).filter(\.shouldDisplay) }
}

struct ArgumentInfo: Decodable, Equatable {
  enum Kind: String, Decodable {
    case positional, option, flag
  }

  struct Name: Decodable, Equatable {
    enum Kind: String, Decodable {
      case long, short, longWithSingleDash
    }
    var kind: Kind
    var name: String

    var text: String { (kind == .long ? "--" : "-") + name }
  }

  var kind: Kind
  var names: [Name]?
  var valueName: String?
  var defaultValue: String?
  var abstract: String?
  var shouldDisplay: Bool
  var isOptional: Bool
  var isRepeating: Bool

  /// The variables of the environment that stand in for it, which its help names as `[$NAME]`.
  var environment: [String] {
    (abstract ?? "").matches(of: /\[\$([A-Z_]+)\]/).map { String($0.1) }
  }
}
