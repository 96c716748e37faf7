public import Foundation
public import MediaBridge

/// How a job is, or what came of it, in the words of LiveKit's Egress API.
public struct EgressInfo: Sendable, Equatable {
  /// Goes one way.
  public enum Status: String, Sendable {
    /// Nothing has come yet.
    case starting
    /// It is written.
    case active
    /// Nothing comes any more, and it is being completed.
    case ending
    /// All that was asked for is there.
    case complete
    /// Not all is: `error` says why, and each result how it is. The others are whole, where a destination failed alone.
    case failed
    /// It ended before anything came.
    case aborted
    /// Complete, up to a limit that was set.
    case limitReached = "limit_reached"
  }

  /// What ended a job.
  public enum EndReason: String, Sendable {
    /// `EgressJob.finish()`.
    case stopped = "StopEgress API"
    /// Who or what was recorded is gone.
    case sourceClosed = "Source closed"
    /// As much is recorded as was to be.
    case limitReached = "Session limit reached"
    /// It could not go on.
    case failure = "Failure"
  }

  /// Where it is on its way.
  public var status: Status
  /// What is carried on, such as `participant alice`.
  public var request: String
  /// Of the room; empty before it is joined.
  public var roomName: String
  /// The server's id of the room; empty before it is joined.
  public var roomId: String
  /// When it was started; nil before.
  public var startedAt: Date?
  /// When it was complete, or given up; nil before.
  public var endedAt: Date?
  /// Why not all is there; nil while nothing is wrong.
  public var error: LiveKitError?
  /// What ended it; nil before.
  public var endReason: EndReason?
  /// What the results are made of.
  public var progress: OutputProgress

  /// As LiveKit writes it, `End reason: StopEgress API`; empty before the end.
  public var details: String { endReason.map { "End reason: \($0.rawValue)" } ?? "" }
}

/// Of a job, what its `EgressInfo` is made of besides what is written.
struct JobCourse: Sendable {
  var startedAt: Date?
  var endedAt: Date?
  /// Why it could not start.
  var refusal: LiveKitError?

  /// Why the room is gone, where it was before anything had ended the job: nothing comes any more, however long the job is
  /// still written.
  private(set) var roomLoss: LiveKitError?

  /// Whether it was told that it is over.
  private var isOver = false

  mutating func start() { startedAt = startedAt ?? Date() }
  mutating func end() { endedAt = endedAt ?? Date() }

  /// Looks at the room of a job that has begun.
  mutating func watch(_ room: Room, endedBy ending: RecordingOptions.Ending?) {
    guard roomLoss == nil, ending == nil else { return }
    roomLoss = room.failure
  }

  /// - Returns: why it is over, once.
  mutating func news(of ending: RecordingOptions.Ending?, _ failure: LiveKitError?) -> EgressInfo.EndReason? {
    guard !isOver, ending != nil || failure != nil else { return nil }
    isOver = true
    return EgressInfo.EndReason(ending, failure)
  }
}

extension EgressInfo {
  /// - Parameters:
  ///   - isActive: whether anything has come.
  ///   - isEnding: whether it was finished.
  ///   - failure: why not all is there.
  ///   - ending: what has ended it, of what was asked to.
  init(
    _ request: String, of room: Room, _ course: JobCourse, isActive: Bool, isEnding: Bool, failure: LiveKitError?,
    ending: RecordingOptions.Ending?, _ progress: OutputProgress
  ) {
    (self.request, roomName, roomId) = (request, room.name, room.sid)
    (startedAt, endedAt, error) = (course.startedAt, course.endedAt, course.refusal ?? failure)
    self.progress = progress
    let reason = EndReason(ending, error)
    endReason = isEnding ? reason : nil
    status =
      if course.endedAt == nil {
        isEnding ? .ending : isActive ? .active : .starting
      } else {
        Status(isActive: isActive, error, reason)
      }
  }
}

extension EgressInfo.EndReason {
  fileprivate init(_ ending: RecordingOptions.Ending?, _ error: LiveKitError?) {
    switch ending {
    case .durationReached: self = .limitReached
    case .participantLeft, .roomEmpty, .tracksEnded: self = .sourceClosed
    case nil:
      let isStopped = error == nil || error?.code == .cancelled
      self = isStopped ? .stopped : error?.code == .roomClosed ? .sourceClosed : .failure
    }
  }
}

extension EgressInfo.Status {
  /// Of a job that is over.
  fileprivate init(isActive: Bool, _ error: LiveKitError?, _ reason: EgressInfo.EndReason) {
    let isInVain = !isActive && [nil, .cancelled, .timedOut, .roomClosed].contains(error?.code)
    self = isInVain ? .aborted : error != nil ? .failed : reason == .limitReached ? .limitReached : .complete
  }
}
