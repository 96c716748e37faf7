import MediaBridge
import MediaCore

/// How far somebody is who runs a job, and what the job has.
struct JobState: Sendable {
  /// Goes one way.
  private enum Phase {
    case waiting
    case starting(JobRun)
    /// It was told that it runs.
    case running(JobRun)
    case finished(JobRun?)
  }
  private var phase = Phase.waiting
  /// Nil before it was checked what is asked for.
  var targets: RecordingTargets?
  var presence = Presence()
  var arrivals = ArrivalLog()
  var speakers = SpeakerLog()
  var captions = Captions()
  var course = JobCourse()
  var connection = ConnectionWatch()
  var missedSleep = MissedSleep()
  /// Where it is to begin in a pause, since when that lasts.
  var pausedSince: MediaTime?
  var templates = TemplateWatch()
  var receiveTemplates = FileWatch(heedsAbsence: true)
  /// Whether it was told that frames are dropped.
  var isSlow = false

  /// What has begun; it can be changed, and begins with `begin`.
  var run: JobRun? {
    get {
      switch phase {
      case .waiting: nil
      case .starting(let run), .running(let run): run
      case .finished(let run): run
      }
    }
    set {
      guard let run = newValue else { return }
      switch phase {
      case .waiting: break
      case .starting: phase = .starting(run)
      case .running: phase = .running(run)
      case .finished: phase = .finished(run)
      }
    }
  }

  var isTold: Bool { if case .running = phase { true } else { false } }
  var isFinished: Bool { if case .finished = phase { true } else { false } }

  mutating func begin(_ run: JobRun) { if case .waiting = phase { phase = .starting(run) } }
  mutating func tell() { if case .starting(let run) = phase { phase = .running(run) } }
  mutating func finish() { phase = .finished(run) }
}
