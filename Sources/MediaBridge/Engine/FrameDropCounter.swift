/// The frames of a track that arrived, and those of them that a decoder was given.
struct FrameDropCounter {
  private(set) var arrived = 0
  /// Those that arrived while a decoder ran.
  private(set) var offered = 0
  private var isDecoding = false
  /// RTP timestamps of the newest offered frames, overwritten in turn: a decoder is not further behind than that, or
  /// it has dropped.
  private var recent = [UInt32](repeating: 0, count: FrameDropCounter.window)
  private static let window = 64

  mutating func note(_ timestamp: UInt32) {
    arrived += 1
    if isDecoding { offer(timestamp) }
  }

  /// A decoder begins with frames that arrived before, and is given what follows.
  mutating func begin(with waiting: some Sequence<UInt32>) {
    isDecoding = true
    for timestamp in waiting { offer(timestamp) }
  }

  /// The decoder ends: what is still in it does not count as given to it.
  mutating func end(_ isPending: (UInt32) -> Bool) {
    guard isDecoding else { return }
    offered -= pending(isPending)
    isDecoding = false
  }

  /// How many of the offered frames did not come out of the decoder although newer ones did.
  /// - Parameters:
  ///   - decoded: how many did.
  ///   - isPending: whether the frame of a timestamp is newer than all that did.
  func dropped(decoded: Int, _ isPending: (UInt32) -> Bool) -> Int {
    max(0, offered - decoded - (isDecoding ? pending(isPending) : 0))
  }

  private mutating func offer(_ timestamp: UInt32) {
    recent[offered % Self.window] = timestamp
    offered += 1
  }

  private func pending(_ isPending: (UInt32) -> Bool) -> Int {
    let known = min(offered, Self.window)
    for age in 0..<known where !isPending(recent[(offered - 1 - age) % Self.window]) { return age }
    return known
  }
}
