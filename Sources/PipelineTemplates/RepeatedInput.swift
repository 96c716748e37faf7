/// The chain of an output template that is there once for each audio beside the first: it begins with the appsrc
/// `audio-N`, and each N behind `-` or `_` at the end of a word in it is the number, from 2 on.
public enum RepeatedInput {
  /// The agreed name in the text.
  public static let name = "audio-N"

  /// The name of one of them.
  public static func name(_ number: Int) -> String { "audio-\(number)" }
}

/// The chain of an output template that takes what is said, as text: it is there where that is asked for.
public enum CaptionInput {
  /// The agreed name of the appsrc that it begins with.
  public static let name = "captions"
}

extension FilledTemplate {
  /// The description with the chain of `audio-N` once for each number: the first copy in the place of the text, so that
  /// offsets stay as they are, and the others behind all else. Without numbers there is none.
  /// - Parameter captions: whether the chain that takes them is there.
  public func description(withAudio numbers: [Int], captions: Bool = false) -> String {
    var text = Array(description.utf8)
    if !captions, let chain = chains.first(where: { $0.names.contains(CaptionInput.name) }) {
      for index in chain.start..<chain.end { text[index] = UInt8(ascii: " ") }
    }
    guard let chain = chains.first(where: { $0.names.contains(RepeatedInput.name) }) else {
      return String(decoding: text, as: UTF8.self)
    }
    let body = text[chain.start..<chain.end]
    let first = numbers.first.map { body.numbered($0) } ?? body.map { _ in UInt8(ascii: " ") }
    let copies = numbers.dropFirst().flatMap { [UInt8(ascii: " ")] + body.numbered($0) }
    return String(decoding: text[..<chain.start] + first + text[chain.end...] + copies, as: UTF8.self)
  }
}

extension ArraySlice<UInt8> {
  /// With the number in the place of each N.
  fileprivate func numbered(_ number: Int) -> [UInt8] {
    var result: [UInt8] = []
    for index in indices {
      let isMarked = index > startIndex && [UInt8(ascii: "-"), UInt8(ascii: "_")].contains(self[index - 1])
      let isLast = index + 1 == endIndex || !LaunchQuoting.isAlphanumeric(self[index + 1])
      if self[index] == UInt8(ascii: "N"), isMarked, isLast {
        result += Array("\(number)".utf8)
      } else {
        result.append(self[index])
      }
    }
    return result
  }
}
