/// Which frame each of a decoder's reference slots holds, and which was shown last.
struct ReferenceSlots: Sendable {
  /// Frames by number, in the order in which they were shown; hidden ones count down, and 0 is none.
  private var contents: [Int]
  private var shown = 0
  private var hidden = 0

  init(count: Int) { contents = [Int](repeating: 0, count: count) }

  /// A frame was decoded into the slots whose bits are set in `mask`.
  mutating func store(_ mask: Int, isShown: Bool) {
    if isShown { shown += 1 } else { hidden -= 1 }
    for slot in contents.indices where mask >> slot & 1 == 1 { contents[slot] = isShown ? shown : hidden }
  }

  /// What a slot holds was shown.
  mutating func show(_ slot: Int) {
    let frame = contents[slot]
    shown += 1
    guard frame != 0 else { return }
    for other in contents.indices where contents[other] == frame { contents[other] = shown }
  }

  /// Copies what `slot` held when the slots were as in `earlier`.
  mutating func copy(_ slot: Int, of earlier: ReferenceSlots, to other: Int) {
    contents[other] = earlier.contents[slot]
  }
  mutating func forget(_ slot: Int) { contents[slot] = 0 }

  /// What is in them is no longer known.
  mutating func forgetAll() {
    for slot in contents.indices { contents[slot] = 0 }
  }

  /// The slot with the frame that was shown most recently of those that are still kept.
  var newestShown: (slot: Int, isLastShown: Bool)? {
    guard let slot = contents.indices.max(by: { contents[$0] < contents[$1] }), contents[slot] > 0 else { return nil }
    return (slot, contents[slot] == shown)
  }
}
