import MediaCore

// Video and audio as asynchronous sequences, beside renderers.

extension RemoteVideoTrack {
  /// Every frame from now on, as an asynchronous sequence for one loop.
  ///
  ///     for await frame in track.frames() { … }
  ///
  /// The track decodes for it, as for a renderer, until the loop is left, its task is cancelled or the sequence is let
  /// go of. It ends when the track does: when it is unsubscribed or unpublished, or the room is left.
  /// - Parameter count: how many frames wait for a loop that is busy, at least 1; of more, the oldest are dropped.
  public func frames(bufferingNewest count: Int = 4) -> AsyncStream<VideoFrame> {
    stream(bufferingNewest: count) { [weak self] continuation in
      let renderer = FrameStreamRenderer(continuation)
      self?.add(videoRenderer: renderer)
      return { [weak self, weak renderer] in
        if let renderer { self?.remove(videoRenderer: renderer) }
      }
    }
  }
}

extension RemoteAudioTrack {
  /// All audio from now on, as an asynchronous sequence for one loop; it begins and ends like
  /// `RemoteVideoTrack.frames(bufferingNewest:)`.
  /// - Parameters:
  ///   - format: the audio is brought into; nil for what the decoder makes.
  ///   - count: how many buffers wait for a loop that is busy, at least 1; of more, the oldest are dropped. A buffer
  ///     holds what a packet does, mostly 20 ms, so that the default keeps a second.
  public func pcmBuffers(
    format: AudioFormat? = nil, bufferingNewest count: Int = 50
  ) -> AsyncStream<AudioPCMBuffer> {
    stream(bufferingNewest: count) { [weak self] continuation in
      let renderer = AudioStreamRenderer(continuation, format: format)
      self?.add(audioRenderer: renderer)
      return { [weak self, weak renderer] in
        if let renderer { self?.remove(audioRenderer: renderer) }
      }
    }
  }
}

extension Track {
  /// - Parameter attach: makes a renderer that feeds the continuation, adds it, and returns what removes it.
  fileprivate func stream<Element: Sendable>(
    bufferingNewest count: Int, attach: (AsyncStream<Element>.Continuation) -> @Sendable () -> Void
  ) -> AsyncStream<Element> {
    AsyncStream(bufferingPolicy: .bufferingNewest(max(count, 1))) { continuation in
      let (end, token) = (end, TrackEnd.Token())
      let isRunning = end.add(token) { continuation.finish() }
      guard isRunning else { return continuation.finish() }
      let detach = attach(continuation)
      continuation.onTermination = { reason in
        end.remove(token)
        // A track that has ended calls nobody. Else a call may be under way, which itself may wait for the task that is
        // being cancelled here: nobody waits for it on this thread.
        if case .cancelled = reason { Task { detach() } }
      }
    }
  }
}

/// What is to happen once a track has ended, such as the end of the streams that hand out its media.
final class TrackEnd: Sendable {
  /// Names an action.
  final class Token: Sendable {}

  private struct State {
    var hasCome = false
    var actions: [ObjectIdentifier: @Sendable () -> Void] = [:]
  }
  private let state = Locked(State())

  var hasCome: Bool { state.withLock { $0.hasCome } }

  /// - Returns: false when the track has ended before; the action is not kept then.
  func add(_ token: Token, _ action: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if !state.hasCome { state.actions[ObjectIdentifier(token)] = action }
      return !state.hasCome
    }
  }

  func remove(_ token: Token) {
    // What the action held is let go of outside the lock: its end may call us.
    _ = state.withLock { $0.actions.removeValue(forKey: ObjectIdentifier(token)) }
  }

  /// Runs every action, once.
  func come() {
    let actions = state.withLock { state in
      state.hasCome = true
      defer { state.actions = [:] }
      return Array(state.actions.values)
    }
    for action in actions { action() }
  }
}

/// A track that goes away without having ended ends its streams, too.
private final class FrameStreamRenderer: SizelessRenderer, PromptRenderer, Sendable {
  private let continuation: AsyncStream<VideoFrame>.Continuation
  init(_ continuation: AsyncStream<VideoFrame>.Continuation) { self.continuation = continuation }
  deinit { continuation.finish() }
  func render(frame: VideoFrame) { continuation.yield(frame) }
}

private final class AudioStreamRenderer: AudioRenderer, PromptRenderer, Sendable {
  let requiredFormat: AudioFormat?
  private let continuation: AsyncStream<AudioPCMBuffer>.Continuation
  init(_ continuation: AsyncStream<AudioPCMBuffer>.Continuation, format: AudioFormat?) {
    self.continuation = continuation
    requiredFormat = format
  }
  deinit { continuation.finish() }
  func render(pcmBuffer: AudioPCMBuffer) { continuation.yield(pcmBuffer) }
}
