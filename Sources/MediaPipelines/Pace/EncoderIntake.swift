/// Which frames an encoder gets, by how long one that is taken has to wait for it: as many as wait before it, each as long as
/// those have taken that were encoded last. Pure.
package struct EncoderIntake: Sendable {
  private var thinning = FrameThinning()
  /// Of those that were taken last.
  private var times: [Duration] = []
  private var taken = 0
  /// How many had been encoded when, of late.
  private var served: [(time: Duration, count: Int)] = []
  /// Nil where all are taken: a queue in which nothing waits for long is about to be made up for.
  private var delay: Duration?
  /// Frames that it did not get.
  package private(set) var leftOut = 0

  /// More are never looked at.
  private static let most = 256
  private static let window = Duration.seconds(2)
  /// One frame more or less that waits is not to change much.
  private static let weight = 0.1

  package init() {}

  /// - Parameters:
  ///   - time: when a frame comes.
  ///   - waiting: how many wait for the encoder.
  ///   - isFull: whether the queue drops its oldest frame for another one. While the encoder has taken none, that is the one
  ///     that the video begins with, which stays.
  package mutating func takes(at time: Duration, waiting: Int, isFull: Bool = false) -> Bool {
    if isFull, waiting >= taken {
      leftOut += 1
      return false
    }
    served.removeAll { time - $0.time > Self.window }
    served.append((time, taken - waiting))
    follow(at: time, waiting)
    guard thinning.takes(behind: delay ?? .zero) else {
      leftOut += 1
      return false
    }
    if times.count == Self.most { times.removeFirst(Self.most / 2) }
    times.append(time)
    taken += 1
    return true
  }

  /// The last one, which was left out, is taken after all.
  package mutating func takesBack() { leftOut -= 1 }

  private mutating func follow(at time: Duration, _ waiting: Int) {
    guard waiting > 0, let oldest = times.suffix(waiting).first, let first = served.first else {
      delay = nil
      return
    }
    if delay == nil, time - oldest >= FrameThinning.least { delay = .zero }
    guard let before = delay else { return }
    let each = (time - first.time) / max(1, taken - waiting - first.count)
    delay = before + (each * waiting - before) * Self.weight
  }
}
