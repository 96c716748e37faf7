import MediaBridge
import MediaCore
import MediaPipelines

/// What mixes in a composite: nothing before it is opened, then one mix, and two while one takes over from another.
struct CompositeMixing: Sendable {
  let gate = MixGate()
  /// Why nothing is mixed any more.
  let failure = Locked<LiveKitError?>(nil)
  var mix: RoomMix?
  /// Whether it mixes, which it does once somebody publishes.
  var isStarted = false
  var standstill = StandstillWatch()
  var changes: MixChanges?
  var scene: CompositeScene?

  /// Keeps the first.
  func fail(_ error: LiveKitError) { failure.withLock { $0 = $0 ?? error } }

  var losses: MixLosses { scene?.losses ?? MixLosses() }

  /// How long what was before the end is waited for: mixers have their delay, and a busy machine some more.
  var patience: Duration { (mix?.delay ?? .zero) + FrameThinning.most + .seconds(1) }
}
