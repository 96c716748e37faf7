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
  }

  /// Ends what is asked for no more, and begins what is new, or has failed. What stays the same goes on untouched.
  ///
  /// - Parameter tell: hears what changes before anything is told of the jobs that it changes.
  func apply(_ configuration: RunConfiguration, telling tell: @Sendable (Difference) -> Void = { _ in }) async {
    let difference = difference(to: configuration)
    tell(difference)
    // A line that was refused and is there no more leaves the job the same.
    for job in configuration.jobs { running[job.name]?.job.forgetRefusals(besides: job) }
    var ended = difference.removed.compactMap { running.removeValue(forKey: $0) }
    var starts: [(RunJob, RunRoom)] = []
    for job in configuration.jobs where !difference.same.contains(job.name) {
      guard let room = configuration.room(of: job) else { continue }
      if let known = running[job.name] {
        let isChanged = difference.changed.contains(job.name)
        if isChanged, known.job.room.serves(room), await known.job.takeOver(job, used(besides: known.job)) { continue }
        ended.append(known)
      }
      starts.append((job, room))
    }
    for one in ended where !one.job.isOver { one.job.end(isRemoved: true) }
    let before = leaving + ended
    leaving += ended.filter { !$0.job.isOver }
    for (job, room) in starts {
      start(job, room, after: before.map(\.job).filter { $0.standsInTheWay(of: job, room) })
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
      let isSame = known.room.serves(room) && job.isSame(as: known.job)
      let list: WritableKeyPath<Difference, [String]> = !isSame ? \.changed : known.hasFailed ? \.again : \.same
      difference[keyPath: list].append(job.name)
    }
    return difference
  }

  private func start(_ job: RunJob, _ room: RunRoom, after others: [RunningJob]) {
    let console = Console(isJSON: console.isJSON, job: job.name, lives: lives)
    let started = RunningJob(job, in: room, console: console)
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

  /// Completes all of them.
  func end() async {
    for one in running.values { one.job.end(isRemoved: false) }
    await rooms.giveUp()
  }

  /// Returns when all have ended.
  func wait() async {
    for one in all { await one.task.value }
  }
}
