import GStreamerKit

/// What is read of caps, once for the many frames that have the same.
struct CapsReading<Value: Sendable>: Sendable {
  private var known: (caps: Caps, value: Value)?

  mutating func value(of caps: Caps, _ read: (Caps) -> Value) -> Value {
    if let known, known.caps === caps { return known.value }
    let value = read(caps)
    known = (caps, value)
    return value
  }
}
