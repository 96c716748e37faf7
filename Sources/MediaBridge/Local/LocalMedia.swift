import MediaCore

/// What a local track captures, for its renderers and for those who send it.
final class LocalMedia: Sendable {
  private let capture: any MediaCapture
  private let outputs = Locked<[(id: ObjectIdentifier, take: @Sendable (CapturedMedia) -> Void)]>([])
  private let newest = Locked(First())
  private let onEnd = Locked<(@Sendable (LiveKitError?) -> Void)?>(nil)
  private let changes = TaskChain()
  private let isCapturing = Locked(false)

  typealias First = Outcome<CapturedMedia, LiveKitError>

  /// Settled when something has come first since it captures, or cannot come: what failed once may come another time, and
  /// in another size.
  var first: First { newest.withLock { $0 } }

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
    let first = First()
    newest.withLock { $0 = first }
    do throws(LiveKitError) {
      try await capture.start(
        CaptureHandlers(
          media: { [weak self] in self?.take($0, first) }, end: { [weak self] in self?.end($0, first) }))
      return .success(())
    } catch {
      isCapturing.withLock { $0 = false }
      return .failure(error)
    }
  }

  private func take(_ media: CapturedMedia, _ first: First) {
    first.settle(.success(media))
    for output in outputs.withLock({ $0 }) { output.take(media) }
  }

  private func end(_ error: LiveKitError?, _ first: First) {
    first.settle(.failure(error ?? LiveKitError(.noMedia, "it ended before anything of this kind came")))
    onEnd.withLock { $0 }?(error)
  }
}
