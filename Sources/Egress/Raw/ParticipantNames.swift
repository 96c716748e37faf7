import PipelineTemplates

/// What participants are called in names of files: nothing in it leads elsewhere, and no two have the same. Pure.
package struct ParticipantNames: Sendable {
  /// What is put around it has room in a file's name.
  private static let bytes = 200
  private var names: [String: String] = [:]
  private var taken: Set<String> = []

  package init() {}

  package mutating func name(of identity: String) -> String {
    if let name = names[identity] { return name }
    let plain = FileNameTemplate.safe(identity, bytes: Self.bytes)
    var (name, number) = (plain, 1)
    while !taken.insert(name).inserted {
      number += 1
      name = "\(plain)-\(number)"
    }
    names[identity] = name
    return name
  }
}
