import Egress
import Foundation
import MediaBridge
import MediaCore

/// Runs the jobs of a configuration side by side, and brings them into line with another one.
actor RunSession {
  private struct Running {
    let job: RunningJob
    let task: Task<Void, Never>
  }

  private let console: Console
  /// Standard output, where that carries the media of a job.
  private let media: Int32?
  private let rooms = RunRooms()
  private let lives = Locked<[String: String]>([:])
  private var running: [String: Running] = [:]
  /// Those that the file asks for no more, until they have ended.
  private var leaving: [Running] = []
  /// How often each location was written, by whatever job.
  private var used: [String: Int] = [:]
  private var hasEnded = false
  /// Whether all that ended did what it was asked to.
  private(set) var isWhole = true

  init(console: Console, media: Int32?) { (self.console, self.media) = (console, media) }

  var isOver: Bool { all.allSatisfy(\.job.isOver) }
  private var all: [Running] { running.values + leaving }

  /// What a new configuration changes.
  struct Difference {
    var same: [String] = []
    var changed: [String] = []
    var added: [String] = []
    /// What had failed, and begins anew as it was.
    var again: [String] = []
    var removed: [String] = []
    /// Rooms that are joined anew for the right to send messages, so that all their jobs begin anew.
    var rejoined: [String] = []
  }

  /// Ends what is asked for no more, and begins what is new, or has failed. What stays the same goes on untouched. Once
  /// `end` is called nothing more is changed, and what is new says that it was stopped before it began.
  ///
  /// - Parameter tell: hears what changes before anything is told of the jobs that it changes.
  func apply(_ configuration: RunConfiguration, telling tell: @Sendable (Difference) -> Void = { _ in }) async {
    let difference = difference(to: configuration)
    tell(difference)
    // A line that was refused and is there no more leaves the job the same.
    for job in configuration.jobs { running[job.name]?.job.forgetRefusals(besides: job) }
    // Known to `end` while destinations take their time.
    leaving += difference.removed.compactMap { running.removeValue(forKey: $0) }
    var starts: [(job: RunJob, room: RunRoom)] = []
    for job in configuration.jobs where !difference.same.contains(job.name) {
      guard let room = configuration.room(of: job) else { continue }
      if let known = running[job.name]?.job, !hasEnded, difference.changed.contains(job.name),
        known.room.serves(room), await known.takeOver(job, used(besides: known))
      {
        continue
      }
      starts.append((job, room))
    }
    // What was ended meanwhile stays what it is.
    if hasEnded { starts.removeAll { running[$0.job.name] != nil } }
    leaving = (leaving + starts.compactMap { running[$0.job.name] }).filter { !$0.job.isOver }
    for one in leaving { one.job.end(isRemoved: true) }
    for (job, room) in starts {
      start(job, room, after: leaving.map(\.job).filter { $0.standsInTheWay(of: job, room) })
    }
  }

  private func difference(to configuration: RunConfiguration) -> Difference {
    var difference = Difference()
    difference.removed = running.keys.filter { name in !configuration.jobs.contains { $0.name == name } }.sorted()
    for job in configuration.jobs {
      guard let room = configuration.room(of: job) else { continue }
      guard let known = running[job.name]?.job else {
        difference.added.append(job.name)
        continue
      }
      // What is over has nobody in a room who would have to leave it.
      let stays = known.isOver && !known.hasFailed ? known.room.isSame(as: room) : known.room.serves(room)
      let isSame = stays && job.isSame(as: known.job)
      let list: WritableKeyPath<Difference, [String]> = !isSame ? \.changed : known.hasFailed ? \.again : \.same
      difference[keyPath: list].append(job.name)
    }
    let changed = difference.changed.compactMap { running[$0]?.job }.filter { !$0.isOver }
    let rejoined = configuration.rooms.filter { room in changed.contains { $0.room.isJoinedAnew(as: room) } }
    difference.rejoined = rejoined.map(\.name)
    return difference
  }

  private func start(_ job: RunJob, _ room: RunRoom, after others: [RunningJob]) {
    let console = Console(isJSON: console.isJSON, job: job.name, lives: lives)
    let started = RunningJob(job, in: room, console: console)
    if hasEnded { started.end(isRemoved: false) }
    let task = Task {
      for other in others { await other.untilClosed() }
      await run(started)
    }
    running[job.name] = Running(job: started, task: task)
  }

  private func run(_ job: RunningJob) async {
    let (written, isWhole) = await job.run(rooms, besides: used(besides: job), media: media)
    for location in written { used[location, default: 0] += 1 }
    self.isWhole = self.isWhole && isWhole
    leaving.removeAll { $0.job === job }
    // In the same step, so that its locations are counted once.
    job.over(isWhole)
  }

  /// How often each location was written, or is by another job.
  private func used(besides job: RunningJob) -> [String: Int] {
    all.reduce(into: used) { used, other in
      guard other.job !== job, !other.job.isOver else { return }
      used.merge(other.job.ownTakes, uniquingKeysWith: +)
    }
  }

  /// Completes all of them at once, also while a configuration is applied.
  func end() async {
    hasEnded = true
    for one in running.values { one.job.end(isRemoved: false) }
    for one in leaving { one.job.end(isRemoved: true) }
    await rooms.giveUp()
  }

  /// Returns when all have ended.
  func wait() async {
    for one in all { await one.task.value }
  }
}
