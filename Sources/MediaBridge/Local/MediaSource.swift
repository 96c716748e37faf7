import Foundation
import MediaCore
import MediaPipelines

/// What one capture template makes: video, audio, or both from one pipeline, which runs while one of its tracks is started.
/// A file, a live address, or any template of one's own.
public final class MediaSource: Sendable {
  /// The name of the capture template.
  public let template: String
  /// Whether there is an end to come back from: a file, and nothing live.
  public let isFile: Bool
  private let capture: TemplateCapture

  /// - Parameters:
  ///   - template: the name of a capture template.
  ///   - values: for its variables, by name.
  ///   - pipelineFolder: searched before the usual places.
  public convenience init(template: String, values: [String: String] = [:], pipelineFolder: String? = nil) {
    self.init(template: template, values: values, pipelineFolder: pipelineFolder, isFile: false)
  }

  /// A file, or an address that GStreamer can read, such as `rtsp://camera/stream`, by the template `capture/file`; one of
  /// SRT by `capture/srt`.
  /// - Parameter location: a path, or an address with `://`.
  public convenience init(location: String, values: [String: String] = [:], pipelineFolder: String? = nil) {
    let isFile = !location.contains("://") || location.hasPrefix("file://")
    let address = location.contains("://") ? location : URL(fileURLWithPath: location).absoluteString
    self.init(
      template: Self.template(of: location), values: values.merging(["location": address]) { set, _ in set },
      pipelineFolder: pipelineFolder,
      isFile: isFile)
  }

  /// The name of the capture template for a path or an address.
  package static func template(of location: String) -> String {
    location.lowercased().hasPrefix("srt://") ? "srt" : "file"
  }

  private init(template: String, values: [String: String], pipelineFolder: String?, isFile: Bool) {
    (self.template, self.isFile) = (template, isFile)
    capture = TemplateCapture(template: template, values: values, folder: pipelineFolder)
  }

  /// A track of its video.
  public func makeVideoTrack(name: String = Track.cameraName, source: Track.Source = .camera) -> LocalVideoTrack {
    LocalVideoTrack(name: name, source: source, capture: capture.output(.frames))
  }

  /// A track of its audio.
  public func makeAudioTrack(name: String = Track.microphoneName, source: Track.Source = .microphone) -> LocalAudioTrack
  {
    LocalAudioTrack(name: name, source: source, capture: capture.output(.pcm))
  }

  /// Finds out what it makes, by capturing for a moment; what is no file goes on until its tracks take it.
  /// - Parameter limit: how long the first frame or the first audio is waited for.
  /// - Throws: `noMedia` where nothing comes, and why it cannot be captured.
  public func kinds(within limit: Duration = .seconds(10)) async throws(LiveKitError) -> Set<Track.Kind> {
    let (outputs, found) = (try await capture.outputs(), Locked(Set<Track.Kind>()))
    let (any, all) = (Outcome<Void, LiveKitError>(), Outcome<Void, LiveKitError>())
    let taps = outputs.map { (capture.output($0), $0 == .frames ? Track.Kind.video : .audio) }
    for (tap, kind) in taps {
      try await tap.start(
        CaptureHandlers(
          media: { _ in
            any.settle(.success(()))
            let isAll = found.withLock { found in
              found.insert(kind)
              return found.count == outputs.count
            }
            if isAll { all.settle(.success(())) }
          }, end: { any.settle(.failure($0 ?? LiveKitError(.noMedia, "there is neither video nor audio in it"))) }))
    }
    let nothing = LiveKitError(.noMedia, "neither video nor audio comes of it", fault: .publisher)
    do throws(LiveKitError) { try await any.value(within: limit, else: nothing) } catch {
      for (tap, _) in taps { await tap.stop() }
      throw error
    }
    // What comes of one source comes at nearly the same time.
    try? await all.value(within: .seconds(1), else: nothing)
    if !isFile { await capture.hold() }
    for (tap, _) in taps { await tap.stop() }
    return found.withLock { $0 }
  }

  /// Begins anew where it runs: a file from its beginning, an address by connecting again.
  /// - Parameter limit: how long something is waited for to come; until then its tracks are told no failure. nil does not
  ///   wait.
  /// - Throws: why it cannot be captured, `noMedia` where nothing comes.
  public func restart(within limit: Duration? = nil) async throws(LiveKitError) {
    try await capture.restart(within: limit)
  }
}
