import MediaCore

/// Which of the newest numbers have come, in a bitmap, and the counts of RFC 3550, A.3.
struct ArrivalLog: Sendable {
  enum Verdict { case newest, late, duplicate }

  private static let window: Int64 = 4096
  private var unwrapper = SequenceUnwrapper()
  private var bits = [UInt64](repeating: 0, count: Int(window / 64))
  private var first: Int64?
  private(set) var highest: Int64 = 0
  private(set) var received: Int64 = 0

  var expected: Int64 { first.map { highest - $0 + 1 } ?? 0 }

  /// The extended number and whether it is new. What lies too far back counts as a duplicate.
  mutating func record(_ sequence: SequenceNumber) -> (Int64, Verdict) {
    let number = unwrapper.unwrap(sequence.rawValue)
    guard let first else {
      (self.first, highest, received) = (number, number, 1)
      set(number)
      return (number, .newest)
    }
    if number > highest {
      if number - highest >= Self.window {
        bits = bits.map { _ in 0 }
      } else {
        for skipped in (highest + 1)...number { clear(skipped) }
      }
      highest = number
      set(number)
      received += 1
      return (number, .newest)
    }
    guard highest - number < Self.window, !isSet(number) else { return (number, .duplicate) }
    self.first = min(first, number)
    set(number)
    received += 1
    return (number, .late)
  }

  /// True for a number that lies within the window and has not come.
  func isMissing(_ sequence: SequenceNumber) -> Bool {
    guard let first, let number = unwrapper.peek(sequence.rawValue) else { return false }
    return number >= first && number < highest + Self.window && highest - number < Self.window
      && (number > highest || !isSet(number))
  }

  private func slot(_ number: Int64) -> (Int, UInt64) {
    let index = ((number % Self.window) + Self.window) % Self.window
    return (Int(index / 64), 1 << UInt64(index % 64))
  }
  private func isSet(_ number: Int64) -> Bool {
    let (word, bit) = slot(number)
    return bits[word] & bit != 0
  }
  private mutating func set(_ number: Int64) {
    let (word, bit) = slot(number)
    bits[word] |= bit
  }
  private mutating func clear(_ number: Int64) {
    let (word, bit) = slot(number)
    bits[word] &= ~bit
  }
}

/// Interarrival jitter (RFC 3550, A.8).
struct JitterEstimate: Sendable {
  private let clockRate: Double
  private var last: (timestamp: UInt32, at: MediaTime)?
  private var value = 0.0

  init(clockRate: UInt32) { self.clockRate = Double(clockRate) }

  var units: UInt32 { UInt32(clamping: Int64(value)) }
  var seconds: Double { value / clockRate }

  mutating func record(_ timestamp: UInt32, at time: MediaTime) {
    defer { last = (timestamp, time) }
    guard let last, last.timestamp != timestamp else { return }
    let sent = Double(Int32(bitPattern: timestamp &- last.timestamp))
    let arrived = (time - last.at).seconds * clockRate
    let difference = abs(arrived - sent)
    // A jump of more than ten seconds is another clock, not jitter.
    if difference < 10 * clockRate { value += (difference - value) / 16 }
  }
}
