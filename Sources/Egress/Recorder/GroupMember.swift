import MediaBridge
import MediaCore
import PipelineTemplates

/// One of a group who gets files or addresses of their own, or whose track does, from coming to leaving.
struct GroupMember: Sendable {
  /// Goes one way.
  enum Course: Sendable {
    /// Waited for, written and completed by a task.
    case running(Recorder, Task<Void, Never>)
    /// What came of it stays, and nothing that wrote it. Manifests do where nobody has taken them.
    case over(OutputProgress, [Manifest])
  }

  /// An identity, or the server's id of a track.
  let name: String
  /// By their names, as far as these were known when it came.
  let destinations: [Destination]
  var course: Course
  /// The ids of what is published of it, as they were last before it failed.
  var sids: Set<String>
  var hasBegun = false
  /// Why nothing of it is recorded.
  var failure: LiveKitError?
  /// Whether that is an address that somebody else has.
  var isClash = false
  /// Whether nothing of it can be written any more.
  var hasFailed = false
  /// Whether it was not there any more since it began.
  var hasLeft = false
  /// Since when something that is not muted is published, of which nothing comes.
  var silentSince: MediaTime?

  /// How long something that is published may send nothing.
  private static let patience = Duration.seconds(10)

  /// Nil once it is over.
  var recorder: Recorder? { if case .running(let recorder, _) = course { recorder } else { nil } }
  var task: Task<Void, Never>? { if case .running(_, let task) = course { task } else { nil } }
  var isOver: Bool { recorder == nil }

  /// Why it was not recorded, where it had sent something, which is in no file.
  var refusal: LiveKitError? { failure?.code == .noMedia ? nil : failure }

  /// Whoever comes back is tried again. Of whoever stays, what was refused is refused again, but not what is published
  /// instead; what sent nothing may send something now; and what cannot be written is not tried again and again.
  func mayBeginAnew(with sids: Set<String>) -> Bool {
    guard isOver else { return false }
    if hasLeft { return true }
    return refusal == nil ? !hasFailed : sids != self.sids
  }

  /// Notes that it does not begin any more, which is a failure where something was to come.
  mutating func passes(at now: MediaTime) {
    guard !hasBegun, !isOver, failure == nil, let silentSince, now - silentSince >= Self.patience else {
      return
    }
    failure = LiveKitError(
      .noMedia, "nothing of \(name) has come in \((now - silentSince).components.seconds) s, though it was not muted")
  }

  /// Of its destinations, where nothing of it is recorded.
  var failed: [DestinationStatus] {
    guard !hasBegun, let failure else { return [] }
    return destinations.map { destination in
      var status = DestinationStatus(destination, .failed)
      status.failure = failure
      return status
    }
  }

  /// How far it is, or what came of it.
  var progress: OutputProgress {
    get async {
      guard hasBegun else { return OutputProgress(destinations: failed) }
      switch course {
      case .running(let recorder, _): return await recorder.progress()
      case .over(let progress, _): return progress
      }
    }
  }

  /// None before its first moment.
  var manifests: [Manifest] {
    get async {
      switch course {
      case .running(let recorder, _): await recorder.manifests
      case .over(_, let manifests): manifests
      }
    }
  }
}

/// All of a group, in the order in which they came.
struct GroupMembers: Sendable {
  private(set) var all: [GroupMember] = []
  /// Why somebody was refused first who has begun anew since.
  private var pastRefusal: LiveKitError?

  /// Why not all of them are recorded.
  var lack: LiveKitError? { pastRefusal ?? all.lazy.compactMap(\.failure).first }

  /// - Parameters:
  ///   - sids: of what is published of it now.
  ///   - isClash: whether somebody else has its address.
  func mayBegin(_ name: String, with sids: Set<String>, isClash: @autoclosure () -> Bool = false) -> Bool {
    guard let last = all.last(where: { $0.name == name }) else { return true }
    return last.mayBeginAnew(with: sids) || last.isClash && !isClash()
  }

  /// When something came of one of them who is about to be recorded, the newest; nil where nothing has.
  var flowedAt: MediaTime? {
    all.compactMap { member -> MediaTime? in member.recorder?.flowedAt.withLock { $0 } }.max()
  }

  /// Why nothing of any who are there can be recorded as it is published; nil while something may be, and where nobody
  /// is there.
  func hopelessness(naming most: Int) -> LiveKitError? {
    let there = all.filter { !$0.hasLeft }
    guard there.allSatisfy({ $0.isOver && $0.refusal != nil }) else { return nil }
    return LiveKitError.joined(there.compactMap(\.refusal), naming: most)
  }

  /// How often it was recorded.
  func takes(of name: String) -> Int { all.count { $0.name == name && $0.hasBegun } }

  mutating func add(_ member: GroupMember) {
    let passed = all.filter { $0.name == member.name && !$0.hasBegun && $0.isOver }
    if pastRefusal == nil, let refusal = passed.compactMap(\.refusal).first {
      pastRefusal = LiveKitError(
        refusal.code, "\(member.name) was not recorded at first: \(refusal.message)", fault: refusal.fault,
        underlying: refusal)
    }
    all.removeAll { $0.name == member.name && !$0.hasBegun && $0.isOver }
    all.append(member)
  }

  /// The one that it records, while it does.
  subscript(_ recorder: Recorder) -> GroupMember? { all.first { $0.recorder === recorder } }

  mutating func change(_ recorder: Recorder, _ body: (inout GroupMember) -> Void) {
    guard let index = all.firstIndex(where: { $0.recorder === recorder }) else { return }
    body(&all[index])
  }

  /// Brings them into line with who is there. Nobody waits for those who have gone.
  mutating func note(_ present: [String: RecorderGroup.Present], isPaused: Bool, at now: MediaTime) {
    for index in all.indices {
      let one = present[all[index].name]
      if one == nil { all[index].hasLeft = true }
      guard !all[index].hasBegun, !all[index].isOver else { continue }
      if let one {
        // In a pause nothing is to come.
        let isHeld = one.isMuted || isPaused
        all[index].silentSince = isHeld ? nil : all[index].silentSince ?? now
        if all[index].failure == nil { all[index].sids = one.sids }
      } else {
        all[index].passes(at: now)
        // Nothing more is to come, however long its end takes.
        all[index].silentSince = nil
        all[index].task?.cancel()
      }
    }
  }

  /// Notes that none of them begins any more, and ends all.
  /// - Returns: what ends them.
  mutating func end(at now: MediaTime) -> [Task<Void, Never>] {
    for index in all.indices { all[index].passes(at: now) }
    let tasks = all.compactMap(\.task)
    for task in tasks { task.cancel() }
    return tasks
  }
}
