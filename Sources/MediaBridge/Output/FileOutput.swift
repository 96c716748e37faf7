import Foundation
import GStreamerKit
import MediaCore

/// One file that is being written from at most one video and one audio track. Media threads write into it; it ends
/// once, with a file that plays.
final class FileOutput: Sendable {
  private struct State {
    /// Our time of the file's first moment.
    var origin: MediaTime?
    var silence = SilenceFiller()
    var videoEnd = Duration.zero
    var lastVideo: Duration?
    var videoCaps: String?
    var isEnding = false
    var videoBuffers = 0
    var audioBuffers = 0
  }

  let file: String
  let format: OutputFormat
  private let hasVideo: Bool
  private let pipeline: Pipeline
  private let video: AppSource?
  private let audio: AppSource
  private let state = Locked(State())
  private let broken = Locked<LiveKitError?>(nil)
  private let silentPacket: MediaBuffer

  /// How far sound may lag behind the pictures before silence takes its place: late packets have that long.
  private static let audioPatience = Duration.milliseconds(1500)
  private static let rawSilence = [UInt8](repeating: 0, count: 960 * 2 * 2)
  private static let rawCaps = "audio/x-raw,format=S16LE,rate=48000,channels=2,layout=interleaved"
  private static let opusCaps = "audio/x-opus,channel-mapping-family=0,rate=48000,channels=2"

  /// - Parameter size: of the pictures as published; a transcoding text keeps the file at that size.
  init(
    file: String, format: OutputFormat, hasVideo: Bool, size: Dimensions?, factory: PipelineFactory
  ) throws(LiveKitError) {
    self.file = file
    self.format = format
    self.hasVideo = hasVideo
    try Self.checkWritable(file)
    var values = ["location": file]
    if let size {
      // Encoders want even sizes.
      values["width"] = String(max(2, size.width / 2 * 2))
      values["height"] = String(max(2, size.height / 2 * 2))
    }
    let made = try factory.make(.output, format.template, values: values)
    pipeline = made.pipeline
    audio = try made.source("audio")
    if hasVideo {
      video = try made.source("video")
    } else {
      video = nil
      try made.removeBranch(from: "video")
    }
    made.onFailure { [broken] error in
      broken.withLock { if $0 == nil { $0 = LiveKitError(error.code, "\(file): \(error.message)") } }
    }
    guard let caps = Caps(format.audio == .raw ? Self.rawCaps : Self.opusCaps) else {
      throw LiveKitError(.pipeline, "GStreamer does not know the format of sound")
    }
    audio.set(caps: caps)
    let silence = format.audio == .raw ? Self.rawSilence : SilenceFiller.opusSilence
    silentPacket = silence.withUnsafeBytes {
      MediaBuffer(copying: $0, caps: caps, pts: nil, duration: SilenceFiller.step)
    }
    try made.start()
  }

  /// Why the file cannot go on; nil while it can.
  var failure: LiveKitError? { broken.withLock { $0 } }

  // MARK: Media

  /// One access unit or picture. The first one, a keyframe, is the file's first moment.
  func writeVideo(_ media: MediaBuffer) {
    guard let video, let time = media.pts else { return }
    let place = state.withLock { state -> (start: Duration, silence: [Duration], isFirst: Bool)? in
      guard !state.isEnding else { return nil }
      if state.origin == nil {
        guard !media.isDelta else { return nil }
        state.origin = time
      }
      guard let origin = state.origin else { return nil }
      // Timestamps have to go up, whatever a clock's correction says.
      let start = max(time - origin, (state.lastVideo ?? .milliseconds(-1)) + .milliseconds(1))
      let isFirst = state.lastVideo == nil
      state.lastVideo = start
      state.videoBuffers += 1
      return (start, state.silence.fill(upTo: start - Self.audioPatience), isFirst)
    }
    guard let place else { return }
    // The muxer takes one description of the stream; what changes later travels within it.
    writeSilence(place.silence)
    let start = MediaTime(nanoseconds: place.start.nanoseconds)
    video.push(media, pts: start, dts: start, updatingCaps: place.isFirst || format.video == .raw)
  }

  /// One packet or block of sound; what comes before the first picture is left out.
  func writeAudio(_ media: MediaBuffer) {
    guard let time = media.pts else { return }
    let duration = media.duration ?? SilenceFiller.step
    let place = state.withLock { state -> (start: Duration, silence: [Duration])? in
      guard !state.isEnding else { return nil }
      if state.origin == nil && !hasVideo { state.origin = time }
      guard let origin = state.origin, time >= origin, let gap = state.silence.gap(before: time - origin) else {
        return nil
      }
      state.audioBuffers += 1
      return (state.silence.wrote(time - origin, duration), gap)
    }
    guard let place else { return }
    writeSilence(place.silence)
    let start = MediaTime(nanoseconds: place.start.nanoseconds)
    audio.push(media, pts: start, dts: start, updatingCaps: false)
  }

  private func writeSilence(_ starts: [Duration]) {
    for start in starts {
      let start = MediaTime(nanoseconds: start.nanoseconds)
      audio.push(silentPacket, pts: start, dts: start, updatingCaps: false)
    }
  }

  /// Keeps the file growing when nothing arrives: a muted or silent participant is silence, not a shorter file.
  func advance(to time: MediaTime) {
    let silence = state.withLock { state -> [Duration] in
      guard let origin = state.origin, !state.isEnding else { return [] }
      return state.silence.fill(upTo: time - origin - Self.audioPatience)
    }
    writeSilence(silence)
  }

  // MARK: State

  var isActive: Bool { state.withLock { $0.origin != nil } }

  var written: (duration: Duration, video: Int, audio: Int) {
    state.withLock { (max($0.lastVideo ?? .zero, $0.silence.end), $0.videoBuffers, $0.audioBuffers) }
  }

  var bytes: Int64 {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file)
    return (attributes?[.size] as? Int64) ?? 0
  }

  /// Writes what the file needs to be complete, and closes it.
  /// - Throws: why it is not complete.
  func finish() async throws(LiveKitError) {
    let silence = state.withLock { state -> [Duration] in
      let rest = state.isEnding ? [] : state.silence.fill(upTo: state.lastVideo ?? .zero)
      state.isEnding = true
      return rest
    }
    writeSilence(silence)
    do {
      try await pipeline.sendEndOfStream(timeLimit: .seconds(10))
    } catch {
      await pipeline.stop()
      throw failure ?? LiveKitError(.output, "\(file): the file could not be completed: \(error.message)")
    }
    await pipeline.stop()
    if let failure { throw failure }
  }

  /// Stops without completing the file, for an output that has never begun.
  func abandon() async { await pipeline.stop() }
}

// MARK: - Errors

extension FileOutput {
  /// Says before a room is joined what would only be found out when the first picture comes.
  static func checkWritable(_ file: String) throws(LiveKitError) {
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
    let manager = FileManager.default
    var isFolder: ObjCBool = false
    guard manager.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw LiveKitError(.output, "\(file): the folder \(folder) does not exist; make it or choose another file")
    }
    if manager.fileExists(atPath: file, isDirectory: &isFolder), isFolder.boolValue {
      throw LiveKitError(.output, "\(file) is a folder; name a file in it")
    }
    let target = manager.fileExists(atPath: file) ? file : folder
    guard manager.isWritableFile(atPath: target) else {
      throw LiveKitError(.output, "\(file): no permission to write here; choose another file or folder")
    }
  }
}
