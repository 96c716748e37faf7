/// How loud audio is ("Identifiers for WebRTC's Statistics API", totalAudioEnergy): the squares of its samples, full
/// scale being 1, over time. Of several channels the loudest of each moment counts.
struct AudioEnergy: Sendable, Equatable {
  /// Squares times seconds.
  private(set) var total = 0.0
  /// Seconds.
  private(set) var duration = 0.0
  /// Samples of one channel.
  private(set) var sampleCount = 0

  mutating func add(_ samples: UnsafeBufferPointer<Int16>, channelCount: Int, sampleRate: Int) {
    // Squares of 16 bits have 31 at most: whole numbers for hours of them.
    var sum: UInt64 = 0
    let frames = forEachMoment(samples.count, channelCount, sampleRate) { start, end in
      var peak: UInt32 = 0
      for index in start..<end { peak = max(peak, UInt32(samples[index].magnitude)) }
      sum &+= UInt64(peak &* peak)
    }
    add(Double(sum) / (32768 * 32768), frames: frames, sampleRate: sampleRate)
  }

  mutating func add(_ samples: UnsafeBufferPointer<Float>, channelCount: Int, sampleRate: Int) {
    var sum = 0.0
    let frames = forEachMoment(samples.count, channelCount, sampleRate) { start, end in
      var peak: Float = 0
      for index in start..<end { peak = max(peak, abs(samples[index])) }
      sum += Double(peak * peak)
    }
    add(sum, frames: frames, sampleRate: sampleRate)
  }

  /// Calls `body` with the bounds of the samples of each moment.
  /// - Returns: how many moments there are; none without channels or a rate.
  @inline(__always)
  private func forEachMoment(
    _ sampleCount: Int, _ channelCount: Int, _ sampleRate: Int, _ body: (Int, Int) -> Void
  ) -> Int {
    guard channelCount > 0, sampleRate > 0 else { return 0 }
    let moments = sampleCount / channelCount
    for moment in 0..<moments { body(moment * channelCount, (moment + 1) * channelCount) }
    return moments
  }

  private mutating func add(_ squares: Double, frames: Int, sampleRate: Int) {
    guard frames > 0 else { return }
    total += squares / Double(sampleRate)
    duration += Double(frames) / Double(sampleRate)
    sampleCount += frames
  }

  mutating func add(_ other: AudioEnergy) {
    total += other.total
    duration += other.duration
    sampleCount += other.sampleCount
  }

  /// The level of what was added since `earlier`, from 0 to 1; nil when nothing was.
  func level(since earlier: AudioEnergy) -> Double? {
    let length = duration - earlier.duration
    guard length > 0 else { return nil }
    return (max(0, total - earlier.total) / length).squareRoot()
  }
}
