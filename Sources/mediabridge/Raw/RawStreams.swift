import Egress
import MediaBridge
import MediaCore

/// The streams of a command, in the order in which they came, and what has become of them.
struct RawStreams: Sendable {
  /// By identity where each participant has one.
  private(set) var all: [(key: String, stream: any RawStream)] = []
  /// How many there were.
  private(set) var made = 0
  /// Those that have ended alone, and why.
  private var ended: [String: LiveKitError] = [:]
  /// Why the end is missing of the stream of somebody who left.
  private var cutShort: LiveKitError?
  /// Whether somebody who has left had sent something.
  private var hadBegun = false
  /// Of those who have left.
  private var left: [RawReport] = []
  private var course = RawCourse()

  subscript(key: String) -> (any RawStream)? { all.first { $0.key == key }?.stream }
  var hasBegun: Bool { hadBegun || all.contains { $0.stream.hasBegun } }
  var reports: [RawReport] { left + all.map(\.stream.report) }
  func hasEnded(_ key: String) -> Bool { ended[key] != nil }

  /// - Parameter make: gets its number, from 1 on.
  mutating func add(
    _ key: String, _ make: (Int) throws(LiveKitError) -> any RawStream
  ) throws(LiveKitError) {
    made += 1
    all.append((key, try make(made)))
  }

  mutating func fail(_ key: String, _ error: LiveKitError) { ended[key] = error }

  /// - Returns: which readers get nothing any more that still did when this was asked before, and why.
  mutating func noteEnds() -> [(name: String, failure: LiveKitError)] {
    var news: [(name: String, failure: LiveKitError)] = []
    for (key, stream) in all where ended[key] == nil {
      guard let failure = stream.failure else { continue }
      // Those that share a reader end together.
      let isKnown = stream.output.isShared && ended.values.contains { $0.message == failure.message }
      if !isKnown { news.append((stream.name, failure)) }
      ended[key] = failure
    }
    return news
  }

  // MARK: Who leaves

  /// Whoever comes back begins anew.
  /// - Parameter duration: how much was asked for.
  /// - Returns: what is to be brought to its end.
  mutating func leave(_ key: String, _ duration: Duration?) -> (any RawStream)? {
    let failure = ended.removeValue(forKey: key)
    cutShort = cutShort ?? failure
    guard let index = all.firstIndex(where: { $0.key == key }) else { return nil }
    let stream = all.remove(at: index).stream
    if stream.hasBegun {
      hadBegun = true
      course.noteLeft(duration.map { $0 - .seconds(stream.report.duration) }, at: .now)
    }
    return stream
  }

  /// It is at its end.
  mutating func noteLeft(_ stream: any RawStream) {
    left.append(stream.report)
    cutShort = cutShort ?? stream.failure
  }

  // MARK: The end

  /// How many files are named that lack something.
  private static let most = 5

  /// What files lack because their disk or this machine was too slow; of what readers get it is only counted.
  var losses: LiveKitError? { LiveKitError.joined(reports.compactMap(\.lack), naming: Self.most) }

  /// Whether nothing more is to come.
  /// - Parameter isOpen: whether those who come later have readers of their own, and nothing says how long all takes.
  func isOver(isOpen: Bool) -> Bool {
    let stages = all.map { key, stream -> RawCourse.Stage in
      if ended[key] != nil { return .ended }
      return stream.isDone ? .done : stream.hasBegun ? .running : .waiting
    }
    let failed = ended.keys.filter { self[$0] == nil }.map { _ in RawCourse.Stage.ended }
    let othersMayCome = isOpen && !all.contains { $0.stream.output.isShared }
    return course.isOver(stages + failed, othersMayCome: othersMayCome, at: .now)
  }

  /// What kept streams from being whole. A reader that closes its end has had enough, which is no failure unless more
  /// was asked for.
  func lack(isWhole: Bool) -> LiveKitError? {
    let failures = ended.sorted { $0.key < $1.key }.map(\.value) + [cutShort].compactMap { $0 }
    return failures.first { !isWhole || $0.code != .readerGone }
  }
}
