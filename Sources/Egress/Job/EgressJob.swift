public import MediaBridge

/// A job that carries a connected room on: a `Recorder` of one participant or of single tracks, the `RoomComposite` of
/// all who are there, or a `RecorderGroup` with files for each of them. It goes one way: it is prepared, started and
/// finished once.
public protocol EgressJob: Actor {
  /// What happens to it from now on, until it has ended. Each read of this property makes a stream of its own, which keeps
  /// the newest 1000 for a reader who falls behind.
  nonisolated var events: AsyncStream<EgressEvent> { get }

  /// Does what can be done before a room is joined: checks what is asked for, the templates and the folders, and takes
  /// the files, so that no other job writes into them. `finish()` gives them back; one that was made here and has got
  /// nothing goes. `start` does the same where this was not called.
  /// - Throws: what cannot be, and what to do about it.
  func prepare() async throws(LiveKitError)

  /// Waits for somebody who sends something, and starts to write. Returns when the first moment is in the output.
  /// - Throws: why nothing came of it; it is finished then. `cancelled` where `finish()` was called meanwhile, and
  ///   nothing else was wrong.
  func start() async throws(LiveKitError)

  /// Completes and closes all destinations. Called again it only says what they hold.
  /// - Throws: why they are not all complete; `progress()` says how each of them is, and what was written before stays.
  func finish() async throws(LiveKitError) -> OutputProgress

  // MARK: Changes

  /// Adds a destination while it runs. It begins at the next keyframe, which is asked for, and its time at zero;
  /// `OutputProgress` and `EgressEvent.destinationChanged` tell of it. What it needs and no other did is subscribed to.
  /// - Throws: what cannot be, with its name; the others go on without it.
  func add(_ destination: OutputDestination) async throws(LiveKitError)

  /// Ends one of several destinations while the others go on: it is completed and closed, and holds what came until now.
  /// - Parameter location: as it was named, or as its status says.
  /// - Returns: how it is.
  /// - Throws: there is no such destination, it is the last one, or why it is not complete.
  @discardableResult
  func remove(_ location: String) async throws(LiveKitError) -> DestinationStatus

  /// How the tracks of a mixed room are laid out from now on.
  /// - Throws: nothing is laid out.
  func set(layout: CompositeLayout) async throws(LiveKitError)

  /// Shows a label on a mixed room, in the place of the one before.
  /// - Throws: nothing is mixed, there is no video, nobody is called so, or the template has no element that shows it.
  func set(label: CompositeLabel) async throws(LiveKitError)

  /// Cuts out what is from now on, of video and audio alike and in all destinations, until `resume()`: what is written goes
  /// on without a gap. Nothing happens while it is paused already.
  /// - Throws: nothing runs yet, or it goes to a live server too, which would take a pause for a loss.
  func pause() async throws(LiveKitError)

  /// Goes on after a pause. Video that is stored as it is sent does so at its next keyframe, which is asked for.
  /// - Throws: nothing runs yet.
  func resume() async throws(LiveKitError)

  // MARK: State

  /// How it is, in the words of LiveKit's Egress API; after `finish()` what came of it.
  var info: EgressInfo { get async }
  /// How far it is; after `finish()`, whatever came of it, what the files hold. `progressUpdates(every:)` says it again
  /// and again.
  func progress() async -> OutputProgress
  /// What the output has of video and audio, once it is prepared.
  var kinds: Set<Track.Kind> { get async }
  /// Time since the first moment, without pauses; zero before it.
  var elapsed: Duration { get async }
  /// What there is to be known of it, gaps and loss among it: one, or of a group one each, in the order in which they
  /// began; none before the first moment.
  var manifests: [Manifest] { get async }
  /// Why nothing can be written any more, or nothing comes since the room is gone; nil while a destination goes on.
  var failure: LiveKitError? { get async }
  /// What has ended it, of what was asked to; it is for the caller to finish it then.
  var ending: RecordingOptions.Ending? { get async }
}

extension EgressJob {
  /// For jobs that lay nothing out.
  public func set(layout: CompositeLayout) async throws(LiveKitError) {
    throw LiveKitError(
      .invalidState, "only a mixed room has a layout; --composite \(layout.rawValue) mixes the room")
  }

  /// For jobs that mix nothing.
  public func set(label: CompositeLabel) async throws(LiveKitError) {
    throw LiveKitError(.invalidState, "only a mixed room has labels; --composite grid mixes the room")
  }
}
