import ArgumentParser

/// Prints the manual page, for `make install`.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Print the manual page.", shouldDisplay: false)

  func run() throws { print(try ManualPage().text, terminator: "") }
}
