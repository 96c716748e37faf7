/// A part of a description that hangs on a `tee` and can be made by itself.
public struct TemplateBranch: Equatable, Sendable {
  /// The name of the tee.
  public var tee: String
  /// What stands behind it, at the same offsets as in the whole description: everything else is white space.
  public var description: String
}

/// Elements that are linked one behind the other.
struct TemplateChain: Sendable {
  /// UTF-8 offsets in the description.
  var start: Int
  var end: Int
  /// Of the word that it begins with: `media` of `media.`; nil for a chain that begins with an element.
  var reference: String?
  /// Where what stands behind the reference and its link begins.
  var body: Int
  /// What the template calls its last element.
  var lastName: String?
  /// What it calls those that have a name.
  var names: [String] = []
}

extension FilledTemplate {
  /// The branch that begins with a reference to a tee, such as `media.`, and ends in the element of that name; nil when
  /// the template has none.
  public func branch(endingIn name: String) -> TemplateBranch? {
    guard let chain = chain(endingIn: name), let tee = chain.reference else { return nil }
    let text = Array(description.utf8)
    let head = [UInt8](repeating: 0x20, count: chain.body)
    return TemplateBranch(tee: tee, description: String(decoding: head + text[chain.body..<chain.end], as: UTF8.self))
  }

  /// The description without the branches that end in these elements, at the same offsets.
  public func trunk(withoutBranches names: [String]) -> String {
    var text = Array(description.utf8)
    for chain in names.compactMap(chain(endingIn:)) {
      for offset in chain.start..<chain.end { text[offset] = 0x20 }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private func chain(endingIn name: String) -> TemplateChain? {
    chains.first { $0.lastName == name && $0.reference != nil }
  }
}

/// Follows a description's words from chain to chain.
struct TemplateChainBuilder {
  private(set) var chains: [TemplateChain] = []
  private var isLinked = false

  /// - Parameters:
  ///   - start: UTF-8 offset of the word.
  ///   - end: what comes behind it.
  mutating func take(word: String, start: Int, end: Int) {
    guard word != "!" else {
      isLinked = true
      if let last = chains.last, last.reference != nil, last.body == last.end { chains[chains.count - 1].body = end }
      return extend(to: end)
    }
    if isLinked, !chains.isEmpty {
      chains[chains.count - 1].lastName = nil
      extend(to: end)
    } else {
      let reference = word.hasSuffix(".") ? String(word.dropLast()) : nil
      chains.append(TemplateChain(start: start, end: end, reference: reference, body: reference == nil ? start : end))
    }
    isLinked = false
  }

  /// Caps between two links, or a property of the newest element.
  mutating func take(rest end: Int) {
    extend(to: end)
    isLinked = false
  }

  mutating func name(_ name: String) {
    guard !chains.isEmpty else { return }
    chains[chains.count - 1].lastName = name
    chains[chains.count - 1].names.append(name)
  }

  /// A description may begin with a link, which is GStreamer's to refuse.
  private mutating func extend(to end: Int) { if !chains.isEmpty { chains[chains.count - 1].end = end } }
}
