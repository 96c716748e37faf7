import GStreamerKit
import MediaCore
import MediaPipelines
import PipelineTemplates

/// The output template `playback` at work.
final class PlaybackMixer: Sendable {
  enum Failure: Sendable {
    /// Of one input; the others go on.
    case input(String, LiveKitError)
    case everything(LiveKitError, of: Identity)
  }

  /// Tells one mixer from the next: what an earlier one says at last is none of this one's business.
  final class Identity: Sendable {}
  let identity = Identity()

  static let template = "playback"
  /// The variable of the template that names the sink.
  static let sink = "sink"
  /// The property of a mixer's input.
  static let volume = "volume"
  private static let mixer = "audiomix"
  private static let prefix = "played"
  /// A sound server may hang; who waits for it must not for long.
  private static let startLimit = Duration.seconds(3)
  private static let stopLimit = Duration.seconds(2)
  /// More than `PlaybackDelay.most` of packets of 10 ms; the usual ones have 20.
  private static let queue = 60

  private let made: TemplatePipeline
  private let origin: MediaTime
  /// From a moment to its being mixed.
  private let delay: Duration
  private let count = Locked(0)

  /// - Parameter onFailure: called on the thread that all pipelines share.
  init(
    factory: PipelineFactory, values: [String: String], onFailure: @escaping @Sendable (Failure) -> Void
  ) throws(LiveKitError) {
    let made = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory.make(.output, Self.template, values: values)
    }
    self.made = made
    let origin = MediaTime.now
    self.origin = origin
    // A text without this mixer is told as wrong with its first input.
    delay = .nanoseconds((try? made.pipeline.element(named: Self.mixer))?.int("latency") ?? 0)
    made.pipeline.setOrigin(origin)
    let (template, identity) = (made.template, identity)
    made.pipeline.onMessage { message in
      guard case .error(let error) = message else { return }
      let reason = LiveKitError(error, in: template)
      onFailure(Self.input(of: error.element).map { .input($0, reason) } ?? .everything(reason, of: identity))
    }
  }

  /// The input that an element belongs to.
  private static func input(of element: String?) -> String? {
    let parts = element?.split(separator: "-") ?? []
    return parts.count > 1 && parts[0] == prefix ? "\(parts[0])-\(parts[1])" : nil
  }

  /// Adds an input; the first one before `start`, so that the mixer has something live to keep time for.
  func addInput() throws(LiveKitError) -> PlaybackInput {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let name = "\(Self.prefix)-\(number)"
    do throws(PipelineError) {
      let branch = try made.pipeline.addBranch(description: Self.branch(name), toMixer: Self.mixer)
      return try begin(branch, name)
    } catch {
      throw LiveKitError(error, in: made.template)
    }
  }

  /// The names of its elements begin with the input's, so that their errors can be told from those of others.
  private static func branch(_ name: String) -> String {
    "appsrc name=\(name)-source max-buffers=\(queue) max-bytes=0 leaky-type=downstream "
      + "! audioconvert name=\(name)-convert ! audioresample name=\(name)-resample"
  }

  private func begin(_ branch: MixerBranch, _ name: String) throws(PipelineError) -> PlaybackInput {
    do throws(PipelineError) {
      let source = try branch.appSource(named: "\(name)-source")
      // Where there is no volume, it is told here.
      try branch.setInput(Self.volume, to: "1")
      branch.start()
      return PlaybackInput(name: name, branch: branch, source: source, origin: origin, delay: delay)
    } catch {
      branch.remove()
      throw error
    }
  }

  func start() async throws(LiveKitError) {
    do { try await made.pipeline.start(timeLimit: Self.startLimit) } catch {
      throw LiveKitError(error, in: made.template)
    }
  }

  /// When it returns the device is free, unless its server hangs.
  func stop() async { await made.pipeline.stop(timeLimit: Self.stopLimit) }
}

/// Where one track's audio goes.
struct PlaybackInput: Sendable {
  let name: String
  let branch: MixerBranch
  let source: AppSource
  /// The mixer's moment zero.
  let origin: MediaTime
  /// How long after its time audio is mixed: what comes later is left out.
  let delay: Duration

  /// Takes audio for its time, which is dropped when that has passed. It is not copied, and nobody waits.
  /// - Parameter isMoved: whether its time has nothing to do with where the audio before it ended. Where it differs by
  ///   little, the mixer would have it follow on from that.
  func play(_ media: MediaBuffer, at time: MediaTime, isMoved: Bool = false) {
    guard time >= origin else { return }
    source.push(media, pts: MediaTime(nanoseconds: (time - origin).nanoseconds), discontinuity: isMoved)
  }

  func set(volume: Double) {
    // Inputs without a volume are refused where they are made.
    try? branch.setInput(PlaybackMixer.volume, to: String(volume))
  }

  func remove() { branch.remove() }
}
