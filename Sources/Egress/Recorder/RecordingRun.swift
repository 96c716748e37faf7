import MediaBridge
import MediaCore
import PipelineTemplates

/// A recording that has begun: its job, and what becomes of its video.
struct RecordingRun: Sendable {
  let job: Job
  let destination: JobDestination
  /// Who is asked for keyframes.
  let video: Locked<IncomingMedia?>
  /// What an output that stores video as it was sent holds.
  var heldCodec: String?
  private(set) var codecChanges: [CodecChange] = []
  var tasks: [Task<Void, Never>] = []

  /// Whether it has got its first moment.
  var isActive: Bool { job.media.origin != nil }

  /// Has the output go on with video in another codec where it stores it as it is sent.
  /// - Returns: what changes; nil where it makes no difference.
  /// - Throws: why it cannot be.
  mutating func follow(_ media: IncomingMedia, _ publication: RemoteTrackPublication) throws(LiveKitError)
    -> CodecChange?
  {
    guard media.isVideo, !destination.isRaw(.video), let held = heldCodec, held != media.codec else { return nil }
    let start = job.media.length
    let (encoder, part) = try job.change(
      destination, from: held, to: TrackTraits(media), Job.Video(codec: media.codec, size: publication.dimensions))
    if encoder == nil { heldCodec = media.codec }
    let change = CodecChange(
      sid: publication.sid, held: held, sent: media.codec, encoder: encoder, part: part?.shown, start: start)
    codecChanges.append(change)
    return change
  }

  /// Ends what keeps it going.
  func stop() async {
    for task in tasks {
      task.cancel()
      await task.value
    }
  }

  /// How far it is.
  /// - Parameters:
  ///   - tracks: as they were received.
  func progress(_ tracks: [OutputTrack], _ omissions: [Omission]) -> OutputProgress {
    var progress = OutputProgress(omissions: omissions, codecChanges: codecChanges)
    progress.parts = destination.laterFiles
    (progress.duration, progress.bytes) = (destination.storedLength ?? job.media.length, destination.bytes)
    if destination.isLost { (progress.duration, progress.bytes) = (.zero, 0) }
    progress.tracks = tracks.map { track in
      var track = track
      track.buffers = destination.lines.written(track.kind, job.media)
      track.buffersDropped += destination.dropped(track.kind)
      return track
    }
    return progress
  }
}
