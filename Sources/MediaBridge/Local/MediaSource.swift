import Foundation
import MediaCore
import MediaPipelines

/// What one capture template makes: video, audio, or both from one pipeline, which runs while one of its tracks is started.
/// A file, a live address, or any template of one's own.
public final class MediaSource: Sendable {
  /// The name of the capture template.
  public let template: String
  /// Whether there is an end to come back from: a file, and nothing live. Of an address ``kinds(within:)`` finds it out.
  public var isFile: Bool { hasEnd.withLock { $0 } }
  private let hasEnd: Locked<Bool>
  private let values: [String: String]
  private let capture: TemplateCapture
  /// Of what its template can make, what ``kinds(within:)`` has waited for in vain, though nothing says that there is none.
  package var missing: Set<Track.Kind> { late.withLock { $0 } }
  private let late = Locked(Set<Track.Kind>())
  /// A file shows something, or an error, long before that.
  private static let newsLimit = Duration.seconds(3)
  /// Audio of a camera is heard before the first keyframe that it sends, and they may be far apart.
  private static let keyframeLimit = Duration.seconds(10)
  /// Whether the person at the desktop chooses what is seen each time that it begins.
  package var asksPerson: Bool { capture.asksPerson }
  /// The name of the capture template for what goes by once.
  package static let standardInput = "stdin"
  /// Whether a capture template reads what goes by once.
  package static func readsStandardInput(_ template: String) -> Bool {
    template == standardInput || template.hasPrefix(standardInput + "-")
  }

  /// - Parameters:
  ///   - template: the name of a capture template.
  ///   - passthrough: what of it is sent as it is, where it can be and the template has the variable `formats`.
  ///   - values: for its variables, by name.
  ///   - pipelineFolder: searched before the usual places.
  public convenience init(
    template: String, passthrough: Passthrough = .none, values: [String: String] = [:], pipelineFolder: String? = nil
  ) {
    self.init(
      template: template, values: values, pipelineFolder: pipelineFolder, isFile: false, passthrough: passthrough,
      goesOnMuted: Self.readsStandardInput(template))
  }

  /// A file, or an address that GStreamer can read, such as `rtsp://camera/stream`: one of RTSP by the template
  /// `capture/rtsp`, one of SRT by `capture/srt`, anything else by `capture/file`.
  /// - Parameters:
  ///   - location: a path, or an address with `://`.
  ///   - start: where in it to begin, each time; not of what is live.
  ///   - passthrough: what of it is sent as it is, where it can be; then it begins at the keyframe before `start`.
  ///   - values: for the template's variables, by name.
  ///   - pipelineFolder: searched before the usual places.
  public convenience init(
    location: String, from start: Duration = .zero, passthrough: Passthrough = .none, values: [String: String] = [:],
    pipelineFolder: String? = nil
  ) {
    let isFile = !location.contains("://") || location.hasPrefix("file://")
    var known = RTSPValues.values(of: location)
    known["location"] = location.contains("://") ? location : URL(fileURLWithPath: location).absoluteString
    self.init(
      template: Self.template(of: location), values: values.merging(known) { set, _ in set },
      pipelineFolder: pipelineFolder, isFile: isFile, start: start, passthrough: passthrough, goesOnMuted: true)
  }

  /// The name of the capture template for a path or an address.
  package static func template(of location: String) -> String {
    if location.lowercased().hasPrefix("srt://") { return "srt" }
    return RTSPValues.scheme(of: location) == nil ? "file" : RTSPValues.template
  }

  private init(
    template: String, values: [String: String], pipelineFolder: String?, isFile: Bool, start: Duration = .zero,
    passthrough: Passthrough, goesOnMuted: Bool
  ) {
    (self.template, self.values, hasEnd) = (template, values, Locked(isFile))
    capture = TemplateCapture(
      template: template, values: values, folder: pipelineFolder, start: start, passthrough: passthrough.formats,
      goesOnMuted: goesOnMuted)
  }

  /// Finds mistakes in the values of its template before anything is opened.
  /// - Throws: what the template does not take.
  package func check() throws(LiveKitError) {
    try capture.check()
    if template == RTSPValues.template { try RTSPValues.check(values) }
  }

  /// A track of its video.
  public func makeVideoTrack(name: String = Track.cameraName, source: Track.Source = .camera) -> LocalVideoTrack {
    LocalVideoTrack(name: name, source: source, capture: capture.output(.video))
  }

  /// A track of its audio.
  public func makeAudioTrack(name: String = Track.microphoneName, source: Track.Source = .microphone) -> LocalAudioTrack
  {
    LocalAudioTrack(name: name, source: source, capture: capture.output(.audio))
  }

  /// Finds out what it makes, by capturing for a moment; what is no file goes on until its tracks take it. Of a file the
  /// beginning is read, so that video which cannot be sent as it is is decoded from the first frame on.
  /// - Parameter limit: how long the first frame or the first audio is waited for, unless its task is cancelled. Where
  ///   the other may come, too, that is waited for 10 s more.
  /// - Throws: `noMedia` where nothing comes, and why it cannot be captured.
  public func kinds(within limit: Duration = .seconds(10)) async throws(LiveKitError) -> Set<Track.Kind> {
    try await kinds(within: limit) {}
  }

  /// The same.
  /// - Parameter onOpen: called once it is open: what waits for a caller can be called from then on.
  package func kinds(
    within limit: Duration, onOpen: @Sendable () -> Void
  ) async throws(LiveKitError) -> Set<Track.Kind> {
    let (outputs, found) = (try await capture.kinds(), Locked(Set<Track.Kind>()))
    let (any, all) = (Outcome<Void, LiveKitError>(), Outcome<Void, LiveKitError>())
    let taps = outputs.map { (capture.output($0), $0 == .video ? Track.Kind.video : .audio) }
    for (tap, kind) in taps {
      try await tap.start(
        CaptureHandlers(
          media: { _ in
            let isAll = found.withLock { found in
              found.insert(kind)
              return found.count == outputs.count
            }
            any.settle(.success(()))
            if isAll { all.settle(.success(())) }
          },
          end: {
            any.settle(.failure($0 ?? LiveKitError(.noMedia, "there is neither video nor audio in it")))
            all.settle(.success(()))
          }))
    }
    onOpen()
    let again = isFile ? restartWithoutNews() : nil
    let nothing = LiveKitError(.noMedia, "neither video nor audio comes of it", fault: .publisher)
    let first = await withTaskCancellationHandler { () async -> Result<Void, LiveKitError> in
      let first = await any.result(within: limit, else: nothing)
      again?.cancel()
      guard case .success = first else { return first }
      await capture.onSingle { all.settle(.success(())) }
      _ = await all.result(within: Self.keyframeLimit, else: nothing)
      return first
    } onCancel: {
      any.settle(.failure(LiveKitError(.cancelled, "nobody waits for it any more")))
      all.settle(.success(()))
    }
    do throws(LiveKitError) { try first.get() } catch {
      for (tap, _) in taps { await tap.stop() }
      throw error
    }
    let missing = all.current == nil ? Set(taps.map { $0.1 }).subtracting(found.withLock { $0 }) : []
    late.withLock { $0 = missing }
    // Standard input may be a file, of which what was read once does not come again.
    if !Self.readsStandardInput(template), await capture.hasLength { hasEnd.withLock { $0 = true } }
    if !isFile { await capture.hold() }
    for (tap, _) in taps { await tap.stop() }
    if isFile { await capture.lookAhead() }
    return found.withLock { $0 }
  }

  /// An error that is posted while decodebin (1.22) puts the demuxer in is lost at times, and then nothing comes ever.
  private func restartWithoutNews() -> Task<Void, Never> {
    Task { [capture] in
      do { try await Task.sleep(for: Self.newsLimit) } catch { return }
      try? await capture.restart(within: nil)
    }
  }

  /// Has its tracks take no more than tells their size, until ``restart(within:)``: nothing of a file is lost while they are
  /// announced, and none is seen before its time.
  package func holdBack() async { await capture.holdBack() }

  /// Begins anew where it runs: a file from its beginning, an address by connecting again.
  /// - Parameter limit: how long something is waited for to come for one of its tracks; until then they are told no
  ///   failure. nil does not wait.
  /// - Throws: why it cannot be captured, `noMedia` where nothing of it comes.
  public func restart(within limit: Duration? = nil) async throws(LiveKitError) {
    try await capture.restart(within: limit)
  }
}
