import MediaCore

/// What a local track captures, for its renderers and for those who send it.
final class LocalMedia: Sendable {
  private let capture: any MediaCapture
  private let outputs = Locked<[(id: ObjectIdentifier, take: @Sendable (CapturedMedia) -> Void)]>([])
  /// Settled when something has come first, or cannot.
  let first = Outcome<CapturedMedia, LiveKitError>()
  private let onEnd = Locked<(@Sendable (LiveKitError?) -> Void)?>(nil)
  private let changes = TaskChain()
  private let isCapturing = Locked(false)

  init(_ capture: any MediaCapture) { self.capture = capture }

  /// Calls `handler` from now on when nothing comes any more.
  func onEnd(_ handler: @escaping @Sendable (LiveKitError?) -> Void) { onEnd.withLock { $0 = handler } }

  /// Hands on what comes, on a media thread, until it is removed.
  func add(_ owner: AnyObject, _ take: @escaping @Sendable (CapturedMedia) -> Void) {
    let id = ObjectIdentifier(owner)
    outputs.withLock { outputs in
      outputs.removeAll { $0.id == id }
      outputs.append((id, take))
    }
  }

  /// One call may be at its end when it returns.
  func remove(_ owner: AnyObject) {
    let id = ObjectIdentifier(owner)
    outputs.withLock { $0.removeAll { $0.id == id } }
  }

  /// Captures, or lets go of the device; one after the other where several ask.
  func capture(_ isWanted: Bool) async throws(LiveKitError) {
    try await changes.add { await self.bringIntoLine(isWanted) }.value.get()
  }

  private func bringIntoLine(_ isWanted: Bool) async -> Result<Void, LiveKitError> {
    guard isCapturing.withLock({ $0 }) != isWanted else { return .success(()) }
    isCapturing.withLock { $0 = isWanted }
    guard isWanted else {
      await capture.stop()
      return .success(())
    }
    do throws(LiveKitError) {
      try await capture.start(
        CaptureHandlers(media: { [weak self] in self?.take($0) }, end: { [weak self] in self?.end($0) }))
      return .success(())
    } catch {
      isCapturing.withLock { $0 = false }
      return .failure(error)
    }
  }

  private func take(_ media: CapturedMedia) {
    first.settle(.success(media))
    for output in outputs.withLock({ $0 }) { output.take(media) }
  }

  private func end(_ error: LiveKitError?) {
    first.settle(.failure(error ?? LiveKitError(.noMedia, "it ended before anything of this kind came")))
    onEnd.withLock { $0 }?(error)
  }
}
