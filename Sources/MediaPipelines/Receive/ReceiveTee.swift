import Dispatch
public import GStreamerKit
import MediaCore

/// Where the outputs of a receive pipeline part: each hangs on it while it is wanted, and begins with the kept group.
///
/// Branches come and go on a queue of their own. So whoever adds or removes a consumer waits for no media thread, which
/// may be in a call of somebody who waits for them.
public final class ReceiveTee: Sendable {
  private let pipeline: Pipeline
  private let name: String
  private let group: Locked<KeptGroup<MediaBuffer>>
  private let changes = DispatchQueue(label: "mediabridge.receive.branches")

  /// - Parameters:
  ///   - pipeline: not started yet.
  ///   - name: of its tee.
  public init(pipeline: Pipeline, name: String, _ dependence: KeptGroup<MediaBuffer>.Dependence) throws(PipelineError) {
    self.pipeline = pipeline
    self.name = name
    let group = Locked(KeptGroup<MediaBuffer>(dependence))
    self.group = group
    try pipeline.watch(
      tee: name,
      onBuffer: { media in
        let now = MediaTime.now
        group.withLock { $0.add(media, isKeyframe: !media.isDelta, at: now) }
      },
      // What was kept cannot be read in the format of what comes.
      onChange: { group.withLock { $0.clear() } })
  }

  /// Hangs a branch on the tee.
  /// - Parameter onEmpty: called when it begins with nothing, and so needs a keyframe.
  public func start(_ branch: TeeBranch, onEmpty: @escaping @Sendable () -> Void) {
    changes.async { [group] in
      branch.start {
        let now = MediaTime.now
        let kept = group.withLock { $0.frames(at: now) }
        if kept.isEmpty { onEmpty() }
        return kept
      }
    }
  }

  /// Takes a branch off and ends it, after the changes that were asked for before.
  public func remove(_ branch: TeeBranch) { changes.async { branch.remove() } }

  /// Runs `job` when every change that was asked for is done.
  public func whenSettled(_ job: @escaping @Sendable () -> Void) { changes.async(execute: job) }

  /// Returns when every change that was asked for is done.
  public func settle() async {
    await withCheckedContinuation { continuation in whenSettled { continuation.resume() } }
  }
}
