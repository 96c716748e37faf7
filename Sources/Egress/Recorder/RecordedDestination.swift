import Foundation
import MediaBridge
import MediaCore
import PipelineTemplates

/// A destination of a recording that has begun, and what becomes of its video.
struct RecordedDestination: Sendable {
  let target: RecordingTarget
  /// What it is fed; nil where it can be fed in no way.
  private(set) var plan: OutputPlan?
  /// Nil where it could not be opened, which `refusal` tells.
  private(set) var output: JobDestination?
  private(set) var refusal: LiveKitError?
  /// What it holds of video that it stores as it was sent.
  var heldCodec: String?
  private var codecChanges: [CodecChange] = []
  var reloads: [TemplateReload] = []
  /// Its end, where that came before the recording's.
  var ending: Task<Void, Never>?
  /// What was told of it last.
  private(set) var told: Told?
  private var startedAt: Date?
  private var endedAt: Date?

  struct Told: Equatable {
    var state: DestinationStatus.State
    /// Of its live server.
    var losses: Int
    /// The newest file that is complete: old segments may go.
    var newestFile: String?
    var missing: MediaLoss.News?
    /// How many.
    var incompleteParts = 0
  }

  /// Opens it; one that cannot be opened has failed.
  /// - Parameters:
  ///   - tracks: that it is fed with.
  ///   - video: without a codec where none comes.
  ///   - voices: that have a track of their own where it takes them.
  ///   - isOnly: whether there is no other, and errors need not say which one they are about.
  init(
    opening target: RecordingTarget, in job: Job, for tracks: [Track.Kind: TrackTraits], _ video: Job.Video,
    voices: [Voice], isOnly: Bool
  ) {
    (self.target, heldCodec) = (target, video.codec)
    do throws(LiveKitError) {
      if let lack = target.lack { throw lack }
      let plan = try target.planner.plan(tracks, voices: voices)
      self.plan = plan
      guard !plan.feeds.isEmpty else {
        let kinds = tracks.keys.map(\.description).sorted().joined(separator: " and ")
        throw LiveKitError(.invalidParameter, "\(target.planner.template) takes no \(kinds)")
      }
      output = try job.add(
        target.destination, planner: target.planner, plan: plan, video: video, factory: target.factory,
        claim: target.claim, reconnectFor: target.reconnectFor, parts: target.parts, captions: target.captions)
    } catch {
      refusal = isOnly || error.message.contains(target.destination.shown) ? error : error.about(target.destination)
    }
  }

  /// Notes that it is told, and when what it tells began.
  mutating func tell(_ status: inout DestinationStatus) {
    told = Told(status)
    if status.duration > .zero || [.active, .complete].contains(status.state) {
      startedAt = startedAt ?? Date(timeIntervalSinceNow: -status.duration.seconds)
    }
    if status.hasEnded { endedAt = endedAt ?? Date() }
    (status.startedAt, status.endedAt) = (startedAt, endedAt)
  }

  var failure: LiveKitError? { output?.failure ?? refusal }
  /// Whether media goes to it.
  var isOpen: Bool { output != nil && ending == nil }

  /// Has it go on with video in another codec, or in spatial layers, where it stores it as it is sent.
  /// - Returns: what changes; nil where it makes no difference.
  /// - Throws: why it cannot be.
  mutating func follow(
    _ media: IncomingMedia, _ publication: RemoteTrackPublication, _ job: Job
  ) throws(LiveKitError) -> CodecChange? {
    guard isOpen, let output, media.isVideo, output.has(.video), !output.isRaw(.video), let held = heldCodec,
      held != media.codec || media.hasSpatialLayers
    else { return nil }
    let start = job.media.length
    let (encoder, part) = try job.change(
      output, from: held, to: TrackTraits(media), Job.Video(codec: media.codec, size: publication.dimensions))
    if encoder == nil { heldCodec = media.codec }
    let change = CodecChange(
      location: target.destination.shown, sid: publication.sid, held: held, sent: media.codec, encoder: encoder,
      part: part?.shown, start: start)
    codecChanges.append(change)
    return change
  }

  /// What there is to tell of it. It is asked several times a second, and so lists nothing.
  func news(_ job: Job) -> Told {
    guard let output else { return Told(state: .failed, losses: 0, newestFile: nil) }
    return Told(
      state: output.state(job.media), losses: output.stream?.losses ?? 0, newestFile: output.newestCompletedFile,
      missing: output.missing?.news, incompleteParts: output.stages.lacks.count)
  }

  /// - Parameter tracks: as they were received.
  func status(_ job: Job, _ tracks: [RecordedTracks.Received]) -> DestinationStatus {
    guard let output else {
      var status = DestinationStatus(target.destination, .failed, segments: target.planner.segments)
      status.failure = refusal
      return status
    }
    var status = DestinationStatus(target.destination, output.state(job.media), segments: target.planner.segments)
    (status.startedAt, status.endedAt) = (startedAt, endedAt)
    if !output.isLost {
      (status.duration, status.bytes) = (output.length(job.media), output.bytes)
    }
    (status.parts, status.completedFiles) = (output.laterFiles, output.completedFiles)
    (status.codecChanges, status.reloads) = (codecChanges, reloads)
    status.captions = output.captions?.status
    if status.state == .complete { status.completedFiles = (status.captions?.files ?? []) + status.completedFiles }
    status.segments = output.segments
    status.stream = output.stream
    status.failure = output.failure
    (status.missing, status.incompleteParts) = (output.missing, output.stages.lacks)
    // What is put into a socket that nobody reads was not sent.
    if status.failure != nil, status.stream?.wasTaken == false { status.duration = .zero }
    status.tracks = tracks.filter { output.has($0.track.kind) }.map { output.track($0, job) }
    status.standIns = [Track.Kind.video, .audio].filter { kind in
      output.has(kind) && !status.tracks.contains { $0.kind == kind }
    }.map(output.standIn)
    return status
  }
}

extension JobDestination {
  /// As it goes to this destination.
  fileprivate func track(_ received: RecordedTracks.Received, _ job: Job) -> OutputTrack {
    let kind = received.track.kind
    var track = received.track
    track.isPassthrough = !isRaw(kind)
    track.buffers = lines.written(OutputInput(kind), job.media)
    track.buffersDropped = received.dropped(isRaw: isRaw(kind)) + dropped(kind)
    track.encoded = lines[OutputInput(kind)]?.form.made
    return track
  }

  /// Black or silence in the place of a track that has not come.
  fileprivate func standIn(_ kind: Track.Kind) -> OutputTrack {
    OutputTrack(
      sid: "", kind: kind, codec: "", isPassthrough: false, dimensions: nil,
      encoded: lines[OutputInput(kind)]?.form.made)
  }
}

extension RecordedDestination.Told {
  init(_ status: DestinationStatus) {
    self.init(
      state: status.state, losses: status.stream?.losses ?? 0, newestFile: status.completedFiles.last,
      missing: status.missing?.news, incompleteParts: status.incompleteParts.count)
  }
}
