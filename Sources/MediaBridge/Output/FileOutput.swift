import Bitstream
import Foundation
import GStreamerKit
import MediaCore
import MediaPipelines
import PipelineTemplates

/// One file or stream that is being written from at most one video and one audio track. Media threads write into it; it
/// ends once, with a file that plays.
final class FileOutput: Sendable {
  /// Video and audio packets of the participant that are in the file.
  struct Counts: Sendable {
    var buffers = 0
    /// Dropped because encoding or writing did not keep up.
    var dropped = 0
  }

  private struct State {
    var timeline: OutputTimeline
    var frames: FrameRepeater
    var isEnding = false
    var isBegun = false
    /// Whether no video is sent on purpose.
    var isMuted = false
    var video = 0
    var audio = 0

    /// Whether the file has got its first moment just now.
    mutating func begins() -> Bool {
      defer { isBegun = true }
      return !isBegun
    }
  }

  let destination: Destination
  let plan: OutputPlan
  private let pipeline: Pipeline
  private let video: OutputInput?
  private let audio: OutputInput?
  /// As published.
  private let size: Dimensions?
  private let factory: PipelineFactory
  private let silentPacket: MediaBuffer
  private let onKeyframeNeeded: @Sendable () -> Void
  private let onChange: @Sendable () -> Void
  private let broken = Locked<LiveKitError?>(nil)
  /// Held while media is placed and queued, so that the queues get it in order; queueing never waits.
  private let state: Locked<State>
  /// What the file holds, once nobody writes it any more.
  private let stored = Locked<StoredMedia?>(nil)

  private static let usualSize = Dimensions(width: 1280, height: 720)
  private static let rawSilence = [UInt8](repeating: 0, count: 960 * 2 * 2)
  private static let rawCaps = "audio/x-raw,format=S16LE,rate=48000,channels=2,layout=interleaved"
  private static let opusCaps = "audio/x-opus,channel-mapping-family=0,rate=48000,channels=2"

  /// - Parameters:
  ///   - codec: of the frames that the first moment begins with; nil when they are black until one comes, which takes
  ///     a feed of raw video.
  ///   - size: of the frames as published; an encode template keeps them at that size.
  ///   - onKeyframeNeeded: called when frames come that cannot be shown before a keyframe.
  ///   - onChange: called when the file has got its first moment, and when it cannot go on.
  init(
    _ destination: Destination, plan: OutputPlan, codec: String?, size: Dimensions?, factory: PipelineFactory,
    onKeyframeNeeded: @escaping @Sendable () -> Void, onChange: @escaping @Sendable () -> Void
  ) throws(LiveKitError) {
    self.destination = destination
    self.plan = plan
    self.onKeyframeNeeded = onKeyframeNeeded
    self.onChange = onChange
    if destination.isFile { try Self.checkWritable(destination.location) }
    let size = size.flatMap(Self.encodable)
    self.size = size
    self.factory = factory
    let made = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory.make(.output, plan.template, values: destination.values)
    }
    let fail: @Sendable (LiveKitError) -> Void = { [broken] error in
      broken.withLock { if $0 == nil { $0 = error.about(destination) } }
      onChange()
    }
    let input = { (kind: Track.Kind) throws(LiveKitError) -> OutputInput? in
      guard let feed = plan.feeds[kind] else {
        try made.leaveOut(kind)
        return nil
      }
      return try OutputInput(
        kind, feed, of: made, factory: factory, values: size?.values(besides: factory.overrides) ?? [:],
        onKeyframeNeeded: onKeyframeNeeded, onFailure: fail)
    }
    pipeline = made.pipeline
    (video, audio) = (try input(.video), try input(.audio))
    let isRaw = (video: video?.isRaw == true, audio: audio?.isRaw == true)
    state = Locked(
      State(
        timeline: OutputTimeline(
          hasAudio: audio != nil, hasVideo: video != nil, beginsWithFrame: codec != nil),
        frames: FrameRepeater(
          codec: isRaw.video ? nil : codec.flatMap(Bitstream.VideoCodec.init(encodingName:)),
          blackSize: size ?? Self.usualSize)))
    made.onFailure { failure, _ in fail(LiveKitError(failure)) }
    guard let caps = Caps(isRaw.audio ? Self.rawCaps : Self.opusCaps) else {
      throw LiveKitError(.pipeline, "GStreamer does not know the format of audio")
    }
    audio?.set(caps: caps)
    silentPacket = (isRaw.audio ? Self.rawSilence : SilenceFiller.opusSilence).withUnsafeBytes {
      MediaBuffer(copying: $0, caps: caps, pts: nil, duration: SilenceFiller.step)
    }
    do { try made.start() } catch { throw LiveKitError(error).about(destination) }
  }

  /// Why the file cannot go on; nil while it can.
  var failure: LiveKitError? { broken.withLock { $0 } }

  // MARK: Media

  /// The video comes in another codec from here on, of which a file holds one: it goes on decoded, and is encoded by
  /// `template` into what the file holds, in the size that it has.
  func encodeVideo(by template: String) throws(LiveKitError) {
    guard let video else { return }
    let size = state.withLock { $0.frames.size }.flatMap(Self.encodable) ?? size
    let encoder = try video.encoder(template, values: size?.values(besides: factory.overrides) ?? [:], isFirst: false)
    state.withLock { state in
      video.encode(by: encoder)
      state.frames = FrameRepeater(codec: nil, blackSize: size ?? Self.usualSize)
    }
  }

  /// Encoders want even sizes; a size that no camera has is a stranger's idea.
  private static func encodable(_ size: Dimensions) -> Dimensions? {
    guard (16...8192).contains(size.width), (16...8192).contains(size.height) else { return nil }
    return Dimensions(width: size.width / 2 * 2, height: size.height / 2 * 2)
  }

  /// One access unit or frame. What still comes of a muted camera is left out, but for the one that begins the file.
  /// - Parameter isRaw: whether it is decoded. An access unit that was under way when `encodeVideo` was called is left
  ///   out.
  func writeVideo(_ media: MediaBuffer, isRaw: Bool) {
    guard let video, let time = media.pts else { return }
    let (needsKeyframe, begins) = state.withLock { state -> (Bool, Bool) in
      guard !state.isEnding, !state.isMuted || state.timeline.origin == nil, isRaw == video.isRaw else {
        return (false, false)
      }
      guard state.frames.canShow(media) else { return (true, false) }
      guard let start = state.timeline.place(frameAt: time, isKeyframe: !media.isDelta, now: .now) else {
        return (true, false)
      }
      state.frames.show(media)
      // The muxer takes one description of the stream; what changes later travels within it.
      video.push(media, at: start, isFirst: state.video == 0)
      state.video += 1
      if state.isMuted { _ = blacken(&state, at: time) }
      return (false, state.begins())
    }
    if needsKeyframe { onKeyframeNeeded() }
    if begins { onChange() }
  }

  /// Says whether video is not sent on purpose: it is muted, or no longer published. From `time` on the file is black
  /// then, and afterwards until the first frame that can be shown.
  /// - Returns: false when it shows the last frame instead, because black cannot be written in the stream's format.
  func setMuted(_ isMuted: Bool, at time: MediaTime = .now) -> Bool {
    state.withLock { state in
      guard state.isMuted != isMuted, !state.isEnding else { return true }
      state.isMuted = isMuted
      return isMuted ? blacken(&state, at: time) : true
    }
  }

  private func blacken(_ state: inout State, at time: MediaTime) -> Bool {
    // Without a first moment there is nothing to be shown on.
    guard video != nil, state.timeline.origin != nil, !state.frames.isBlack else { return true }
    guard let black = state.frames.blacken(),
      let start = state.timeline.place(frameAt: time, isKeyframe: true, now: time)
    else { return false }
    video?.push(black, at: start)
    return true
  }

  /// One packet or block of audio; what comes before the file's first moment is left out.
  func writeAudio(_ media: MediaBuffer) {
    guard let audio, let time = media.pts else { return }
    let begins = state.withLock { state -> Bool in
      let duration = media.duration ?? SilenceFiller.step
      guard !state.isEnding,
        let place = state.timeline.place(audioAt: time, duration: duration, now: .now)
      else { return false }
      write(OutputTimeline.Filling(silence: place.silence), &state)
      audio.push(media, at: place.start)
      state.audio += 1
      return state.begins()
    }
    if begins { onChange() }
  }

  /// Keeps the file growing when nothing arrives: a muted participant is silence and a repeat frame, not a shorter
  /// file.
  func advance(to time: MediaTime) {
    state.withLock { state in
      if !state.isEnding { write(state.timeline.advance(to: time), &state) }
    }
  }

  private func write(_ filling: OutputTimeline.Filling, _ state: inout State) {
    for start in filling.silence { audio?.push(silentPacket, at: start) }
    for start in filling.frames {
      guard let frame = state.frames.next() else { return }
      video?.push(frame, at: start)
    }
  }

  // MARK: State

  func has(_ kind: Track.Kind) -> Bool { input(kind) != nil }

  /// Whether it is fed decoded frames or PCM.
  func isRaw(_ kind: Track.Kind) -> Bool { input(kind)?.isRaw == true }

  private func input(_ kind: Track.Kind) -> OutputInput? { kind == .video ? video : audio }

  /// Our time of the file's first moment.
  var origin: MediaTime? { state.withLock { $0.timeline.origin } }
  var isActive: Bool { origin != nil }

  /// Media written; once the file has ended, what it really holds, where it is of a kind that can be read.
  var length: Duration { stored.withLock { $0?.length } ?? state.withLock { $0.timeline.length } }

  func counts(of kind: Track.Kind) -> Counts {
    let isVideo = kind == .video
    let buffers = state.withLock { isVideo ? $0.video : $0.audio }
    return Counts(buffers: buffers, dropped: input(kind)?.dropped ?? 0)
  }

  /// How much of the room for what is yet to be written is taken, 0…1.
  func fullness(of kind: Track.Kind) -> Double { input(kind)?.fullness ?? 0 }

  /// Of the file; 0 where it is none.
  var bytes: Int64 {
    guard destination.isFile else { return 0 }
    let attributes = try? FileManager.default.attributesOfItem(atPath: destination.location)
    return (attributes?[.size] as? Int64) ?? 0
  }

  /// Writes what the file needs to be complete, and closes it. One that cannot be completed is cut after what plays.
  /// - Parameters:
  ///   - time: until when it is to last where nothing comes any more.
  ///   - isThere: whether the name still leads to the file that was written; another one is left alone.
  /// - Throws: why it is not complete.
  func finish(at time: MediaTime, isThere: Bool = true) async throws(LiveKitError) {
    state.withLock { state in
      if !state.isEnding { write(state.timeline.complete(at: time), &state) }
      state.isEnding = true
    }
    let written = isThere && destination.isFile ? StoredFile(beingWritten: destination.location) : nil
    var reason: LiveKitError?
    do {
      for input in inputs { try await input.drain() }
      try await pipeline.sendEndOfStream { [weak video, weak audio] in (video?.queued ?? 0) + (audio?.queued ?? 0) }
    } catch {
      reason = LiveKitError(.output, "\(destination.shown): it could not be completed: \(error.message)")
    }
    for input in inputs { await input.stop() }
    await pipeline.stop()
    reason = failure ?? reason
    let kept = reason == nil ? written?.read() : written?.mend()
    stored.withLock { $0 = kept }
    if let reason { throw reason }
  }

  private var inputs: [OutputInput] { [video, audio].compactMap { $0 } }
}

extension TemplatePipeline {
  /// Takes the input for a kind of media out, where the template has one.
  fileprivate func leaveOut(_ kind: Track.Kind) throws(LiveKitError) {
    let name = OutputPlanner.inputs[kind]?.output ?? ""
    guard pipeline.hasElement(name) else { return }
    try LiveKitError.wrapping { () throws(PipelineFailure) in try removeBranch(from: name) }
  }
}

// MARK: - Errors

extension LiveKitError {
  /// The same, with the destination that it is about.
  fileprivate func about(_ destination: Destination) -> LiveKitError {
    LiveKitError(code, "\(destination.shown): \(message)", fault: fault, underlying: underlying)
  }
}

extension FileOutput {
  /// Says before a room is joined what would only be found out when the first frame comes.
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
