import MediaCore

/// Which of the newest packets of a stream have come, and how the 16-bit numbers go on (RFC 3550, A.1).
///
/// The validity test of A.1 for a new source is left out: SRTP has authenticated the sender.
struct SequenceWindow: Sendable {
  enum Verdict: Equatable {
    /// Newer than all before; the numbers between are missing.
    case newest(Int64, missing: Range<Int64>)
    /// Fills a hole.
    case late(Int64)
    case duplicate
    /// Outside of what can be told: dropped.
    case outside
    /// The sender counts from somewhere else; all before is forgotten.
    case restarted(Int64)
  }

  /// Packets that may come late: at 1,000 packets a second, two seconds.
  static let length = 2048
  /// A larger step forward is believed once the next number confirms it (MAX_DROPOUT).
  private static let maximumStep = 3000

  private var bits = [UInt64](repeating: 0, count: SequenceWindow.length / 64)
  private(set) var first: Int64?
  private(set) var highest: Int64 = 0
  private var suspect: SequenceNumber?

  /// - Parameter mayRestart: false for retransmissions, whose numbers prove nothing about the sender's counter.
  mutating func insert(_ number: SequenceNumber, mayRestart: Bool = true) -> Verdict {
    guard first != nil else { return mayRestart ? start(at: Int64(number.rawValue)) : .outside }
    let extended = extended(number)
    let step = Int(extended &- highest)
    if step > 0 && step <= Self.maximumStep { return advance(to: extended) }
    if step <= 0 && step > -Self.length { return fill(extended) }
    guard mayRestart else { return .outside }
    guard suspect == number else {
      suspect = number.successor
      return .outside
    }
    return restart(at: number)
  }

  /// The number that is nearest to the highest one.
  func extended(_ number: SequenceNumber) -> Int64 {
    highest &+ Int64(number.distance(from: SequenceNumber(UInt16(truncatingIfNeeded: highest))))
  }

  /// True when `extended` has come, or is too old to tell.
  func contains(_ extended: Int64) -> Bool {
    guard first != nil, extended <= highest else { return false }
    return extended <= highest - Int64(Self.length) || bits[word(extended)] & mask(extended) != 0
  }

  /// Notes a packet that was found inside another.
  mutating func mark(_ extended: Int64) {
    guard extended <= highest, extended > highest - Int64(Self.length) else { return }
    bits[word(extended)] |= mask(extended)
  }

  private mutating func start(at extended: Int64) -> Verdict {
    first = extended
    highest = extended
    mark(extended)
    return .newest(extended, missing: extended..<extended)
  }

  private mutating func restart(at number: SequenceNumber) -> Verdict {
    // The next number that ends so: no extended number means two packets, and after an outage, in which the sender has counted
    // on, it is the sender's own. LiveKit's server drops reports of what it has not sent yet.
    let extended = highest &+ Int64(number.rawValue &- UInt16(truncatingIfNeeded: highest))
    for index in bits.indices { bits[index] = 0 }
    suspect = nil
    _ = start(at: extended)
    return .restarted(extended)
  }

  private mutating func advance(to extended: Int64) -> Verdict {
    suspect = nil
    let missing = (highest + 1)..<extended
    if missing.count >= Self.length {
      for index in bits.indices { bits[index] = 0 }
    } else {
      for number in missing { bits[word(number)] &= ~mask(number) }
    }
    highest = extended
    mark(extended)
    return .newest(extended, missing: missing)
  }

  private mutating func fill(_ extended: Int64) -> Verdict {
    guard bits[word(extended)] & mask(extended) == 0 else { return .duplicate }
    mark(extended)
    first = first.map { min($0, extended) }
    return .late(extended)
  }

  private func word(_ extended: Int64) -> Int { (Int(truncatingIfNeeded: extended) & (Self.length - 1)) >> 6 }
  private func mask(_ extended: Int64) -> UInt64 { 1 << UInt64(extended & 63) }
}
