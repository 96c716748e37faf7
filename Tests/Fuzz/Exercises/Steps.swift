import MediaCore

/// An input that is a sequence: a zero, then for each step the milliseconds before it, two bytes of length, and as many
/// bytes. What does not begin with a zero is one step, as it is; nothing that we read begins with a zero.
struct Steps: Sequence, IteratorProtocol {
  struct Step {
    let time: MediaTime
    let bytes: [UInt8]
  }

  private var rest: ArraySlice<UInt8>
  private var milliseconds: Int64 = 1000
  private let isSequence: Bool

  init(_ input: [UInt8]) {
    isSequence = input.first == 0
    rest = isSequence ? input.dropFirst() : input[...]
  }

  mutating func next() -> Step? {
    guard !rest.isEmpty else { return nil }
    guard isSequence else {
      defer { rest = [] }
      return Step(time: time, bytes: Array(rest))
    }
    guard rest.count >= 3 else { return nil }
    // Beyond 200 the byte stands for seconds, so that a few steps reach every limit.
    let delay = rest.removeFirst()
    milliseconds += delay > 200 ? Int64(delay - 200) * 1000 : Int64(delay)
    let length = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
    let bytes = rest.prefix(length)
    rest = rest.dropFirst(length)
    return Step(time: time, bytes: Array(bytes))
  }

  private var time: MediaTime { MediaTime(nanoseconds: milliseconds * 1_000_000) }
}

/// The input that makes `Steps` of these, each `milliseconds` after the one before.
public func steps(_ list: [[UInt8]], every milliseconds: UInt8 = 20) -> [UInt8] {
  list.reduce(into: [0]) { input, bytes in
    input += [milliseconds, UInt8(bytes.count >> 8 & 255), UInt8(bytes.count & 255)]
    input += bytes
  }
}
