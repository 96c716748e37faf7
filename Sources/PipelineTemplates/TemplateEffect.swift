extension Template {
  /// Its variables that change something outside the branches that end in these elements: what has an effect where those
  /// branches are not made.
  public func variables(outsideBranches names: [String]) -> Set<String> {
    let known = variables.map { ($0.name, $0.defaultValue ?? "1") }
    let plain = Dictionary(uniqueKeysWithValues: known)
    func trunk(_ name: String, _ value: String) -> [Substring]? {
      let filled = try? fill(plain.merging([name: value]) { _, new in new })
      return filled?.trunk(withoutBranches: names).split(separator: " ")
    }
    return Set(plain.keys.filter { name in trunk(name, "1") != trunk(name, "2") })
  }
}
