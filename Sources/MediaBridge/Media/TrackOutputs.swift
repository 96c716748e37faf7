import GStreamerKit
import MediaCore
import MediaPipelines

/// The outputs of a track, and the pipelines that bring what comes out there: one, and another while that takes over.
final class TrackOutputs: Sendable {
  typealias Output = ReceivePipeline.Output

  /// A decoder of audio has heard enough by then.
  private static let warmUp = Duration.milliseconds(200)

  let all: [Output: TrackOutput]
  private let pipelines = Locked<[ReceivePipeline]>([])

  /// - Parameter onKeyframeNeeded: called on any thread.
  init(isVideo: Bool, onKeyframeNeeded: @escaping @Sendable () -> Void) {
    let dependence: KeptGroup<MediaBuffer>.Dependence = isVideo ? .sinceKeyframe : .none
    all = Dictionary(
      uniqueKeysWithValues: Output.allCases.map { output in
        let hub = MediaHub(output == .encoded ? dependence : nil, onKeyframeNeeded: onKeyframeNeeded)
        return (output, TrackOutput(hub, warmUp: output == .pcm ? Self.warmUp : .zero))
      })
  }

  // MARK: Consumers

  /// Adds a consumer, and has the pipelines make what it needs.
  /// - Throws: what the template lacks for it.
  func add(_ consumer: MediaConsumer, to output: Output) throws(LiveKitError) {
    guard let destination = all[output] else { return }
    destination.add(consumer)
    do throws(LiveKitError) { try open(output, destination) } catch {
      destination.remove(consumer)
      throw error
    }
    consumer.onStop { [weak self] in self?.remove(consumer, from: output) }
  }

  /// Has the pipelines make anew what has failed.
  /// - Throws: what the template lacks for it.
  func reopen(_ output: Output) throws(LiveKitError) {
    if let destination = all[output] { try open(output, destination) }
  }

  private func open(_ output: Output, _ destination: TrackOutput) throws(LiveKitError) {
    let pipelines = pipelines.withLock { $0 }
    try pipelines.first?.open(output)
    for next in pipelines.dropFirst() {
      do throws(LiveKitError) { try next.open(output) } catch { destination.fail(error, of: next.turn) }
    }
  }

  private func remove(_ consumer: MediaConsumer, from output: Output) {
    all[output]?.remove(consumer)
    for pipeline in pipelines.withLock({ $0 }) { pipeline.closeIfIdle(output) }
  }

  /// Whether what is wanted of an output is there.
  func isOpen(_ output: Output) -> Bool { pipelines.withLock { $0.first }?.isOpen(output) == true }

  /// Has a pipeline that has just been made serve all who are there, those who wait for another try among them.
  func renew(by pipeline: ReceivePipeline) {
    for (output, destination) in all where !destination.isEmpty {
      destination.retry()
      do throws(LiveKitError) { try open(output, destination) } catch { destination.fail(error, of: pipeline.turn) }
    }
  }

  // MARK: Pipelines

  /// Only what that one brings goes on.
  func begin(_ pipeline: ReceivePipeline) {
    pipelines.withLock { $0 = [pipeline] }
    for output in all.values { output.begin(pipeline.turn) }
  }

  /// That one is to take over.
  /// - Throws: what it lacks for somebody who is there.
  func expect(_ pipeline: ReceivePipeline) throws(LiveKitError) {
    pipelines.withLock { $0 = $0.prefix(1) + [pipeline] }
    for output in all.values { output.expect(pipeline.turn) }
    for output in all.keys { try pipeline.open(output) }
  }

  /// No other one is there any more.
  func settle(_ pipeline: ReceivePipeline) { pipelines.withLock { $0 = [pipeline] } }

  /// Whether something has come of the one that is to take over, wherever somebody wants it.
  var isExpectationMet: Bool { all.values.allSatisfy(\.isExpectationMet) }

  /// Why something that is wanted does not come of the one that is to take over.
  var failure: LiveKitError? { all.values.lazy.compactMap(\.failure).first }

  /// Has the one that is expected take over.
  func change() { for output in all.values { output.change() } }

  /// Whether nothing but what the expected one brings goes on.
  func hasChanged(to pipeline: ReceivePipeline) -> Bool {
    // Each is to be looked at.
    all.values.count { !$0.hasChanged(to: pipeline.turn) } == 0
  }
}
