public import MediaBridge
import MediaCore

/// What happens to a job while it runs.
public enum EgressEvent: Sendable {
  /// Whoever is to be recorded, or their media, is not there; the text says what is missing.
  case waiting(String)
  /// It has begun, with these tracks of that participant; nil for a whole room.
  case started(participant: String?, [OutputTrack])
  /// A destination has begun, has another file that is complete, or one that could not be completed, has lost its live
  /// server or got it back, is not written, or taken by its server, as fast as it comes, or is again, has failed while
  /// the others go on, or has ended.
  case destinationChanged(DestinationStatus)
  /// A track has come later, or goes on in another form, such as from another publication.
  case trackChanged(OutputTrack)
  /// The video comes in another codec from now on, or in spatial layers, and is encoded into what the file holds, or
  /// goes on in another file.
  case codecChanged(CodecChange)
  /// A destination goes on with templates that have changed while it runs.
  case reloaded(TemplateReload)
  /// A changed template cannot be taken, and these destinations go on with the one before; the error says where and why.
  case reloadRefused(LiveKitError, locations: [String])
  /// The video, which that destination stores as it is sent, goes on in another size inside of an MP4 file, or of
  /// segments of fragmented MP4: some players stop there. It is told once.
  case sizeChanged(location: String, at: Duration)
  /// What could be stored as it is sent is encoded, because only that encode template has these variables.
  case encodedAnew(template: String, variables: [String])
  /// These of `RoomOptions.receiveValues` change nothing in the file, such as those of a decoder where the tracks are
  /// stored as they are sent.
  case withoutEffect(variables: [String])
  /// Something is not in the output from now on.
  case omitted(Omission)
  /// The recorded participant is not in the room any more; the file goes on without it.
  case participantLeft(String)
  /// The recorded participant is back, and in the same file again.
  case participantReturned(String)
  /// The machine is too slow for all that it is to do: frames are dropped from that moment of the job on, evenly, and audio is
  /// not. It is told once; `OutputProgress` says how many.
  case tooSlow(at: Duration)
  /// What comes is cut out from that moment of the job on.
  case paused(at: Duration)
  /// It goes on at that moment of the job.
  case resumed(at: Duration)
  /// The mixed room is laid out so from now on.
  case layoutChanged(CompositeLayout)
  /// A layout that the metadata of this participant asks for is not there, or not all of it; the error says what is.
  case layoutRefused(LiveKitError)
  /// This label is shown on the mixed room from now on; one without text has gone.
  case labelChanged(CompositeLabel)
  /// What somebody has sent on the topic of `CompositeOptions.labelTopic` is not shown; the error says why.
  case labelRefused(LiveKitError, sender: String?)
  /// What was to end it has come, the room is gone, or nothing can be written any more; it is for the caller to finish it
  /// now. Who leaves the room with `disconnect()` knows, and is not told.
  case over(EgressInfo.EndReason)
  /// It has ended, and nothing is told any more. How each destination is that was open until then is said here.
  case ended(EgressInfo)
}

/// Carries what happens to a job to all who read it: in order, and from any thread.
final class EgressNotifier: Sendable {
  private struct State {
    var streams: [Int: AsyncStream<EgressEvent>.Continuation] = [:]
    var next = 0
    var isOver = false
  }
  /// For a reader who falls behind: more than an hour of segments.
  static let limit = 1000
  private let state = Locked(State())

  deinit { end() }

  /// One that is made after the end is empty.
  func makeStream() -> AsyncStream<EgressEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: EgressEvent.self, bufferingPolicy: .bufferingNewest(Self.limit))
    let id = state.withLock { state -> Int? in
      guard !state.isOver else { return nil }
      defer { state.next += 1 }
      state.streams[state.next] = continuation
      return state.next
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.streams.removeValue(forKey: id) } }
    return stream
  }

  func tell(_ event: EgressEvent) {
    for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(event) }
  }

  /// Nothing is told after this.
  func end() {
    let streams = state.withLock { state in
      state.isOver = true
      return Array(state.streams.values)
    }
    for stream in streams { stream.finish() }
  }
}
