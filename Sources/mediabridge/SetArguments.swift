import ArgumentParser
import MediaBridge
import MediaPipelines
import PipelineTemplates

/// `--set` of commands with destinations.
typealias SetArguments = AssignmentArguments<OfDestinations>

/// For what a value of `--set` may be alone, so that the help of a command speaks of what it has.
protocol AssignmentScope: Sendable {
  /// What the NAME of `NAME.name=value` is that of; nil where values are for all templates.
  static var part: String? { get }
}

enum OfDestinations: AssignmentScope { static let part: String? = "destination" }
enum OfTemplates: AssignmentScope { static let part: String? = "template" }
enum OfAll: AssignmentScope { static let part: String? = nil }

/// `--set`, for the commands that run pipeline templates.
struct AssignmentArguments<Scope: AssignmentScope>: ParsableArguments {
  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "Set a variable of the pipeline templates that this command uses, such as bitrate=4000; again for another one"
        + (Scope.part.map { "; NAME.name=value is for the \($0) NAME alone" } ?? ""),
      valueName: "name=value"))
  var pairs: [String] = []

  func validate() throws { for pair in pairs { _ = try Self.parse(pair) } }

  private struct Assignment {
    var destination: String?
    var name: String
    var value: String
  }

  /// A variable's name has no full stop, a template's may have some.
  private static func parse(_ pair: String) throws -> Assignment {
    let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let stop = parts[0].lastIndex(of: ".") else {
      guard parts.count == 2, !parts[0].isEmpty else { throw ValidationError("--set \(pair): write name=value") }
      return Assignment(name: parts[0], value: parts[1])
    }
    let (destination, name) = (parts[0][..<stop], parts[0][parts[0].index(after: stop)...])
    guard !destination.isEmpty, !name.isEmpty else {
      let own = Scope.part.map { ", or NAME.name=value for the \($0) NAME" } ?? ""
      throw ValidationError("--set \(pair): write name=value\(own)")
    }
    return Assignment(destination: String(destination), name: String(name), value: parts[1])
  }

  /// What pairs set where there is one template, and no destination.
  /// - Throws: for what is no pair, and for one that is for a destination.
  static func values(of pairs: [String]) throws -> [String: String] {
    try pairs.map(parse).reduce(into: [:]) { values, assignment in
      if let name = assignment.destination { throw noDestination(name, assignment, []) }
      values[assignment.name] = assignment.value
    }
  }

  /// What is set for each destination alone: by the name of its template, or of its file, which goes before that.
  /// - Throws: for a destination that there is not.
  func own(_ destinations: [Destination]) throws -> [[String: String]] {
    var values = destinations.map { _ in [String: String]() }
    for isFile in [false, true] {
      for assignment in try pairs.map(Self.parse) {
        guard let name = assignment.destination else { continue }
        let named = destinations.indices.filter { Self.names(destinations[$0]).contains(name) }
        guard !named.isEmpty else { throw Self.noDestination(name, assignment, destinations) }
        for index in named where isFile == (name != destinations[index].template) {
          values[index][assignment.name] = assignment.value
        }
      }
    }
    return values
  }

  /// The word for one that a value may be for alone.
  private static var part: String { Scope.part ?? "destination" }

  private static func names(_ destination: Destination) -> [String] {
    let file = destination.location.split(separator: "/").last.map(String.init)
    return [destination.template, file, destination.location].compactMap { $0 }
  }

  private static func noDestination(
    _ name: String, _ assignment: Assignment, _ destinations: [Destination]
  ) -> ValidationError {
    let known = Set(destinations.compactMap(\.template)).sorted()
    let nearest = NearestName.of(name, in: destinations.flatMap(names)).map { "did you mean '\($0)'?" }
    let there = nearest ?? "there is \(known.map { "'\($0)'" }.joined(separator: " and "))"
    let advice =
      destinations.isEmpty ? "this command has no \(part)s; write name=value" : "no \(part) '\(name)'; \(there)"
    return ValidationError("--set \(name).\(assignment.name)=\(assignment.value): \(advice)")
  }

  /// Deals out what is set for all: each value is for the first group of templates of which one has the variable.
  /// - Parameter destinations: those that a value may be for alone.
  /// - Throws: for a name that none of them has.
  func values(
    for groups: [[TemplateName]], folder: String?, besides destinations: [Destination] = []
  ) throws -> [[String: String]] {
    _ = try own(destinations)
    var values: [String: String] = [:]
    for assignment in try pairs.map(Self.parse) where assignment.destination == nil {
      values[assignment.name] = assignment.value
    }
    var result = groups.map { _ in [String: String]() }
    guard !values.isEmpty else { return result }
    let known = groups.map { Self.variables(of: $0, folder: folder) }
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      guard let group = known.firstIndex(where: { $0.contains(name) }) else {
        let all = UnknownVariable(name: name, templates: groups.flatMap { $0 }, known: Set(known.joined()).sorted())
        throw ValidationError("--set \(name)=\(value): \(all.error.message)")
      }
      result[group][name] = value
    }
    return result
  }

  /// The names of the variables of those templates.
  static func variables(of templates: [TemplateName], folder: String?) -> Set<String> {
    let store = TemplateStore(searchPath: .ofProcess(explicit: folder))
    return Set(templates.compactMap { try? store.find($0.kind, $0.name) }.flatMap(\.variables).map(\.name))
  }

  /// The templates that receive tracks.
  static func receiveTemplates(folder: String?) throws -> [TemplateName] {
    let store = TemplateStore(searchPath: .ofProcess(explicit: folder))
    let entries = try store.list([.receive]).entries.filter { $0.shadowedBy == nil }
    // One for hardware that this machine lacks receives nothing here; a text that is wrong is told when it is used.
    let usable = entries.filter { entry in
      let missing = (try? store.read(entry).filledForShow())?.missingElements ?? []
      return !missing.contains(where: ElementPackage.isHardware)
    }
    return usable.map { TemplateName(.receive, $0.name) }
  }
}
