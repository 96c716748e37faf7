import Logging
import MediaCore
import MediaPipelines
import PipelineTemplates

// A receive template that changes while its pipeline runs.
extension TrackPipeline {
  /// From one look at a pipeline that is to take over to the next.
  private static let pause = Duration.milliseconds(50)
  /// How long frames are waited for once packets come.
  private static let patience = Duration.seconds(5)
  /// From one request for a keyframe to the next.
  private static let keyframePause = Duration.seconds(1)
  /// Several may hear of one edit, one after the other: for so long each of them is told that it has taken over.
  private static let memory = Duration.seconds(3)

  /// Has the template as it is now take over, once something has come of it, at the next frame with which somebody may
  /// begin. While nothing arrives it waits.
  /// - Returns: its name once it has; nil where it makes the same as before, or nothing runs.
  /// - Throws: what is wrong with it; the one before goes on.
  func renew() async throws(LiveKitError) -> TemplateName? {
    guard let running = current, running.failure == nil else { return nil }
    let name = TemplateName(.receive, settings.codec)
    let now = try settings.fill()
    if now.isSame(as: running.template) {
      next.map(drop)
      return changed.map { .now - $0 < Self.memory } == true ? name : nil
    }
    guard let next = try next(of: now, after: running) else { return nil }
    do throws(LiveKitError) {
      if try await follow(next) { return name }
    } catch {
      drop(next)
      throw error
    }
    // Somebody else who waited for it has ended.
    return current === running && !Task.isCancelled ? try await renew() : nil
  }

  /// Has the built-in template take over where the one that runs does not decode the spatial layers that have come. It
  /// is tried again, for on a bad link no keyframe may come in time; each reason is told once.
  func followLayers() {
    Task { [weak self] in
      var (pause, told) = (RetryPause(), "")
      while let error = await self?.renewalFailure() {
        if error.message != told { self?.tellOfLayers(error) }
        told = error.message
        try? await Task.sleep(for: pause.next(at: .now))
      }
    }
  }

  /// Why `renew` fails; nil where it does not.
  private func renewalFailure() async -> LiveKitError? {
    do throws(LiveKitError) { _ = try await renew() } catch { return error }
    return nil
  }

  private func tellOfLayers(_ error: LiveKitError) {
    settings.logger.warning(
      "spatial layers are not decoded; it is tried again",
      metadata: ["track": "\(settings.trackSid)", "reason": "\(error.message)"])
  }

  /// The one that somebody else waits for, where it is made of that template.
  private func next(
    of template: FilledTemplate, after running: ReceivePipeline
  ) throws(LiveKitError) -> ReceivePipeline? {
    if let next, template.isSame(as: next.template) { return next }
    try settings.check(template)
    return try begin(after: running)
  }

  /// - Returns: whether it has taken over.
  private func follow(_ next: ReceivePipeline) async throws(LiveKitError) -> Bool {
    var (begin, asked, isChanging) = (MediaTime?.none, MediaTime.now, false)
    while self.next === next {
      let now = MediaTime.now
      if next.isAtWork { begin = begin ?? now }
      if let failure = failure(of: next) { throw failure }
      if isChanging {
        if completeChange(to: next) { break }
      } else if nextHasBegun {
        isChanging = true
        change()
      } else if let begin, now - begin > Self.patience {
        throw LiveKitError(
          .template, "\(next.template.file): nothing has come of it within \(Self.patience.seconds) s")
      }
      if now - asked > Self.keyframePause {
        asked = now
        askForKeyframe()
      }
      do { try await Task.sleep(for: Self.pause) } catch {
        drop(next)
        return false
      }
    }
    return current === next
  }
}

extension ReceiveSettings {
  /// A pipeline that is built and not run shows what its elements refuse.
  fileprivate func check(_ template: FilledTemplate) throws(LiveKitError) {
    _ = try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.make(template) }
  }
}
