import MediaBridge
import MediaCore
import MediaPipelines

/// Which tracks a recording is made of, what arrives of them, and what is left out.
struct RecordedTracks: Sendable {
  /// A track as it was received.
  struct Received: Sendable {
    var track: OutputTrack
    /// What was lost on its way here as it was sent, and decoded.
    fileprivate var (asSent, raw) = (0, 0)

    /// - Parameter before: the one whose place it takes.
    init(_ track: OutputTrack, after before: Received?) {
      self.track = track
      (asSent, raw) = (before?.asSent ?? 0, before?.raw ?? 0)
    }

    func dropped(isRaw: Bool) -> Int { isRaw ? raw : asSent }

    fileprivate mutating func count(_ consumers: [Bool: MediaConsumer]) {
      asSent += consumers[false]?.dropped ?? 0
      raw += consumers[true]?.dropped ?? 0
    }
  }

  /// A track that arrives.
  struct Input: Sendable {
    let publication: RemoteTrackPublication
    let media: IncomingMedia
    /// Why nothing comes for a while in some form; nil once it has been told.
    let interruption = Locked<LiveKitError?>(nil)
    var received: Received
    /// By whether they get it decoded.
    private var consumers: [Bool: MediaConsumer] = [:]
    /// Of forms that could not begin; one that has failed since is brought back by itself.
    private var pauses: [Bool: RetryPause] = [:]

    init(_ publication: RemoteTrackPublication, _ media: IncomingMedia, _ received: Received) {
      (self.publication, self.media, self.received) = (publication, media, received)
    }

    /// The server's id of the track as this came of it; that of the publication is another one in another session.
    var sid: String { received.track.sid }

    /// With what was lost until now.
    var counted: Received {
      var counted = received
      counted.count(consumers)
      return counted
    }

    /// Why it comes in no form at all; nil while it comes in one.
    var refusal: LiveKitError? { consumers.isEmpty ? interruption.withLock { $0 } : nil }

    /// Takes it in the forms that are wanted now, and in no other. A form that cannot begin leaves the other one alone, and
    /// is tried again after a while.
    mutating func feed(_ job: Job, at now: MediaTime = .now) {
      let kind = received.track.kind
      for isRaw in [false, true] {
        guard job.wants(kind, isRaw: isRaw) else {
          stop([isRaw])
          continue
        }
        guard consumers[isRaw] == nil, pauses[isRaw]?.isOver(at: now) != false else { continue }
        do throws(LiveKitError) {
          consumers[isRaw] = try job.consume(media, kind, isRaw: isRaw) { [interruption] error in
            interruption.withLock { $0 = error }
          }
        } catch {
          interruption.withLock { $0 = error }
          pauses[isRaw, default: RetryPause()].next(at: now)
        }
      }
    }

    mutating func stop(_ forms: [Bool] = [false, true]) {
      for isRaw in forms {
        pauses[isRaw] = nil
        guard let consumer = consumers.removeValue(forKey: isRaw) else { continue }
        consumer.stop()
        received.count([isRaw: consumer])
      }
    }
  }

  /// Who is recorded; nil before it is known.
  var identity: String?
  var choice: TrackChoice
  var omissions = OmissionList()
  /// Those who would have fit, too.
  var passedOver = PassedOver()
  /// Those of which nothing came for a while, by the server's ids.
  private(set) var interrupted: Set<String> = []
  /// Subscribed to, or about to be.
  var taken: [Track.Kind: RemoteTrackPublication] = [:]
  /// The server's ids of those, as they were last.
  private var sids: [Track.Kind: String] = [:]
  /// Those that were not muted at some time since they were taken, by the server's ids.
  private var unmuted: Set<String> = []
  /// What arrives of those.
  var inputs: [Track.Kind: Input] = [:]
  /// The inputs that have gone, as they were counted last.
  var ended: [Track.Kind: Received] = [:]

  init(_ choice: TrackChoice) { self.choice = choice }

  /// Those that arrive, the video first.
  var arriving: [OutputTrack] { [Track.Kind.video, .audio].compactMap { inputs[$0]?.received.track } }
  /// Those that arrive or did.
  var all: [Received] { [Track.Kind.video, .audio].compactMap { inputs[$0]?.counted ?? ended[$0] } }

  /// Notes that it is subscribed to for the file.
  mutating func take(_ publication: RemoteTrackPublication) {
    (taken[publication.kind], sids[publication.kind]) = (publication, publication.sid)
    choice.take(publication)
    if !publication.isMuted { noteUnmuted(publication) }
  }

  /// Notes that something of it was to come.
  mutating func noteUnmuted(_ publication: RemoteTrackPublication) { unmuted.insert(publication.sid) }

  /// What is known of a track by its SID is of the same one when it has another, as in another session.
  mutating func followSids() {
    for (kind, publication) in taken {
      guard let old = sids[kind], old != publication.sid else { continue }
      sids[kind] = publication.sid
      choice.rename(old, to: publication.sid)
      omissions.rename(old, to: publication.sid)
      if unmuted.remove(old) != nil { unmuted.insert(publication.sid) }
      if interrupted.remove(old) != nil { interrupted.insert(publication.sid) }
    }
  }

  /// Stops what arrives of a track.
  mutating func remove(_ kind: Track.Kind) {
    inputs[kind]?.stop()
    ended[kind] = inputs.removeValue(forKey: kind)?.received ?? ended[kind]
  }

  /// It is in the output now; that nothing of it came for a while stays known.
  mutating func forgetOmission(of sid: String) {
    if !interrupted.contains(sid) { omissions.forget(sid) }
  }

  /// Notes that nothing of it came for a while, and will not be made up for.
  mutating func noteInterruption(of sid: String) { interrupted.insert(sid) }

  func omission(_ publication: RemoteTrackPublication, _ reason: String, wasWanted: Bool) -> Omission {
    Omission(
      sid: publication.sid, kind: publication.kind, source: publication.source, participant: identity ?? "",
      reason: reason, wasWanted: wasWanted)
  }

  /// Of which tracks nothing has come since the last time, and why; it is tried again.
  mutating func takeInterruptions() -> [(publication: RemoteTrackPublication, error: LiveKitError)] {
    var taken: [(publication: RemoteTrackPublication, error: LiveKitError)] = []
    for input in inputs.values {
      guard let error = input.interruption.withLock({ $0.take() }) else { continue }
      noteInterruption(of: input.publication.sid)
      taken.append((input.publication, error))
    }
    return taken
  }

  /// Notes what was to be written and is not; what came after all was only late.
  /// - Parameter written: how much of a kind is.
  mutating func noteWhatNeverCame(written: (Track.Kind) -> Int) {
    guard let identity else { return }
    for omission in choice.missing(of: identity) { _ = omissions.note(omission) }
    for (kind, publication) in taken {
      let isEmpty = written(kind) == 0
      let hasCome =
        inputs[kind].map { $0.publication === publication && $0.received.track.packetsReceived > 0 } ?? false
      if hasCome, !isEmpty, !interrupted.contains(publication.sid) { omissions.came(publication.sid) }
      guard isEmpty, !omissions.has(publication.sid) else { continue }
      // People mute themselves before they leave: how it is in the end says nothing.
      let wasMuted = !hasCome && !unmuted.contains(publication.sid)
      let reason = wasMuted ? "it was muted all the time" : "nothing of it has come"
      _ = omissions.note(omission(publication, reason, wasWanted: !wasMuted && choice.isNamed(publication)))
    }
  }
}
