import MediaCore

/// Which of LiveKit's two ways of telling what is said counts where a program uses both, as agents do: they send each
/// step of a segment as a text and as a message, under ids of their own. Pure.
///
/// A program may as well use one way alone, or each for something else: that it uses both for the same is known once
/// both say the same at the same time. From then on the way that came first counts, while it goes on.
struct TranscriptionWays {
  enum Way { case text, message }

  private struct Key: Hashable {
    let origin: String
    let speaker: String
  }

  private struct Course {
    let way: Way
    /// What was told last, and when.
    var said: String
    var newest: MediaTime
    /// Whether the other way says the same.
    var isDoubled = false
    /// Since when the other way alone has gone on.
    var alone: MediaTime?
  }

  private var courses: [Key: Course] = [:]

  /// How far apart the two are that say the same.
  static let beside = Duration.seconds(1)
  /// How long the other way goes on alone before it is the one that counts.
  static let silence = Duration.seconds(3)
  /// Senders that name many speakers fill no memory.
  private static let limit = 1000

  /// - Parameters:
  ///   - said: all of it, as it is known now.
  ///   - origin: who really sends it.
  /// - Returns: whether it is told; otherwise the other way does so.
  mutating func counts(
    _ said: String, in way: Way, from origin: String, of speaker: String, at now: MediaTime
  ) -> Bool {
    let key = Key(origin: origin, speaker: speaker)
    guard var course = courses[key], course.way != way else {
      tell(said, in: way, key, at: now)
      return true
    }
    let isSame = course.said == said && now - course.newest <= Self.beside
    guard course.isDoubled || isSame, now - (course.alone ?? now) < Self.silence else {
      courses[key] = nil
      tell(said, in: way, key, at: now)
      return true
    }
    (course.isDoubled, course.alone) = (true, isSame ? nil : course.alone ?? now)
    courses[key] = course
    return false
  }

  private mutating func tell(_ said: String, in way: Way, _ key: Key, at now: MediaTime) {
    if courses.count >= Self.limit { courses.removeAll() }
    var course = courses[key] ?? Course(way: way, said: said, newest: now)
    (course.said, course.newest, course.alone) = (said, now, nil)
    courses[key] = course
  }

  /// There is more in a way, which is told later: letter by letter it would be too much.
  mutating func goOn(in way: Way, from origin: String) {
    for key in courses.keys where key.origin == origin && courses[key]?.way == way { courses[key]?.alone = nil }
  }

  /// - Parameter origin: who has left; nil for the end of the session.
  mutating func cut(from origin: String?) {
    courses = origin.map { origin in courses.filter { $0.key.origin != origin } } ?? [:]
  }
}
