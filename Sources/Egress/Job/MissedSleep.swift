import MediaCore

/// What is missing of a job since the machine slept. Pure.
struct MissedSleep: Sendable {
  private var total = Duration.zero
  private var times = 0
  /// How long the job was then.
  private var age = Duration.zero

  /// - Parameter age: how long the job is.
  mutating func note(_ slept: Duration, at age: Duration) {
    total += slept
    times += 1
    self.age = age
  }

  /// All of it, in one.
  /// - Parameter identity: of who is recorded; nil for all who are there.
  func omission(of identity: String?) -> Omission {
    let what = Omission.stretch(total, of: identity)
    let often = times > 1 ? " \(times) times, the last time" : ""
    return Omission(
      ofTime: "sleep", "\(what): the machine slept\(often) after the first \(Int(age.seconds.rounded())) s")
  }
}
