import Foundation
import GStreamerKit
import MediaCore
import MediaPipelines
import PipelineTemplates

// Which tracks go into the file, and what becomes of them: one that is published anew, or comes later, goes on in it.
extension Recorder {
  func heed(_ event: RoomEvent) async {
    switch event {
    case .trackPublished(let participant, let publication): await consider(publication, of: participant)
    case .trackUnpublished(let participant, let publication): await unpublished(publication, by: participant)
    case .trackSubscribed(_, let publication, _): joined(publication)
    case .trackUnsubscribed(_, let publication, _): left(publication)
    case .muteChanged(_, let publication, let isMuted): muteChanged(publication, to: isMuted)
    case .subscriptionFailed(_, let sid, let error): failed(sid, error)
    case .participantDisconnected(let participant): departed(participant)
    case .participantConnected(let participant): returned(participant)
    default: break
    }
  }

  // MARK: Choosing

  /// Takes what of a participant belongs into the file and is not in it.
  func consider(_ participant: RemoteParticipant) async {
    for publication in TrackChoice.ordered(Array(participant.trackPublications.values)) {
      await consider(publication, of: participant)
    }
  }

  private func consider(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) async {
    guard participant.identity == identity, let output, taken[publication.kind] !== publication else { return }
    guard planner?.kinds.contains(publication.kind) != false else {
      return omit(publication, "output/\(output.plan.template) takes no \(publication.kind)", wasWanted: false)
    }
    guard taken[publication.kind] == nil, choice.accepts(publication), output.has(publication.kind) else {
      return omit(publication, choice.reason(against: publication), wasWanted: choice.isNamed(publication))
    }
    await take(publication)
    joined(publication)
  }

  /// Subscribes to it for the file.
  func take(_ publication: RemoteTrackPublication) async {
    taken[publication.kind] = publication
    choice.take(publication)
    await subscriptions.add(publication)
    guard let refusal = publication.refusal else { return omissions.forget(publication.sid) }
    omit(publication, refusal.message, wasWanted: true)
  }

  private func unpublished(_ publication: RemoteTrackPublication, by participant: RemoteParticipant) async {
    subscriptions.forget(publication)
    guard taken[publication.kind] === publication else { return }
    taken[publication.kind] = nil
    // Another one of the same source takes its place.
    if participant.identity == identity { await consider(participant) }
  }

  // MARK: Feeding

  private func joined(_ publication: RemoteTrackPublication) {
    do {
      try join(publication)
    } catch {
      omit(publication, error.message, wasWanted: true)
    }
  }

  /// Begins to feed the file with a track that was taken, once it comes.
  func join(_ publication: RemoteTrackPublication) throws(LiveKitError) {
    let kind = publication.kind
    guard taken[kind] === publication, inputs[kind] == nil, let output, let media = publication.media else { return }
    guard output.has(kind) else {
      throw LiveKitError(.invalidParameter, "output/\(output.plan.template) takes no \(kind)")
    }
    if media.isVideo, !output.isRaw(.video), media.codec != videoCodec {
      try encode(publication.sid, media, into: output)
    }
    let track = try attach(publication, media, output)
    if isTold { onUpdate(.trackChanged(track)) }
  }

  /// A file holds one codec of a track: one that comes back in another codec is encoded from there on.
  private func encode(_ sid: String, _ media: TrackMedia, into output: FileOutput) throws(LiveKitError) {
    guard let planner, let held = videoCodec else { return }
    let encoder = try planner.encoder(for: TrackTraits(media), continuing: held)
    try output.encodeVideo(by: encoder)
    let change = CodecChange(sid: sid, held: held, sent: media.codec, encoder: encoder, start: output.length)
    codecChanges.append(change)
    onUpdate(.codecChanged(change))
  }

  private func attach(
    _ publication: RemoteTrackPublication, _ media: TrackMedia, _ output: FileOutput
  ) throws(LiveKitError) -> OutputTrack {
    let isVideo = media.isVideo
    let (kind, isRaw) = (publication.kind, output.isRaw(publication.kind))
    let failure = Locked<LiveKitError?>(nil)
    let consumer = try media.consume(
      isRaw ? .raw : .encoded, fullness: { output.fullness(of: kind) },
      onFailure: { error in failure.withLock { $0 = error } },
      onBuffer: { buffer in isVideo ? output.writeVideo(buffer, isRaw: isRaw) : output.writeAudio(buffer) })
    let track = OutputTrack(
      sid: publication.sid, kind: kind, codec: media.codec, isPassthrough: !isRaw,
      dimensions: publication.dimensions, buffersDropped: ended[kind]?.buffersDropped ?? 0)
    // A server may send what was taken for impossible.
    omissions.forget(publication.sid)
    inputs[publication.kind] = Input(
      publication: publication, media: media, consumer: consumer, failure: failure, track: track)
    if isVideo {
      currentVideo.withLock { $0 = media }
      setMuted(publication.isMuted, publication)
    }
    return track
  }

  // MARK: Muting

  private func muteChanged(_ publication: RemoteTrackPublication, to isMuted: Bool) {
    if publication.kind == .video, inputs[.video]?.publication === publication { setMuted(isMuted, publication) }
  }

  /// Says whether nothing is sent on purpose, which is black in the file.
  private func setMuted(_ isMuted: Bool, _ publication: RemoteTrackPublication) {
    guard let output, !output.setMuted(isMuted) else { return }
    let codec = inputs[.video]?.track.codec.uppercased() ?? "its codec"
    omit(
      publication,
      "while it is muted or gone the file shows its last frame and not black, which cannot be written into such "
        + "\(codec); a file name that has it encoded (.mp4 for VP9, .webm for H.264) or --encode shows black",
      wasWanted: false)
  }

  private func left(_ publication: RemoteTrackPublication) {
    guard let input = inputs[publication.kind], input.publication === publication, publication.media !== input.media
    else { return }
    // What ends with the connection has not been ended on purpose.
    if input.track.kind == .video, room.connectionState == .connected { setMuted(true, publication) }
    remove(input)
  }

  private func remove(_ input: Input) {
    var input = input
    let kind = input.track.kind
    input.consumer.stop()
    input.track.buffersDropped += input.consumer.dropped
    inputs[kind] = nil
    ended[kind] = input.track
    if kind == .video { currentVideo.withLock { $0 = nil } }
  }

  /// A track that cannot be shown or heard any more stops only itself.
  func dropFailures() {
    for input in inputs.values {
      guard let failure = input.failure.withLock({ $0 }) else { continue }
      remove(input)
      omit(input.publication, failure.message, wasWanted: true)
    }
  }

  /// A track may go on in another session of the room, without having ended.
  func followMedia() {
    for input in inputs.values {
      guard let media = input.publication.media, media !== input.media else { continue }
      remove(input)
      joined(input.publication)
    }
  }

  // MARK: What is left out

  /// The server does not send it, or nothing of it comes.
  private func failed(_ sid: String, _ error: LiveKitError) {
    guard let publication = taken.values.first(where: { $0.sid == sid }) else { return }
    omit(publication, error.message, wasWanted: true)
  }

  private func omit(_ publication: RemoteTrackPublication, _ reason: String, wasWanted: Bool) {
    let omission = omission(publication, reason, wasWanted)
    if omissions.note(omission) { onUpdate(.omitted(omission)) }
  }

  private func omission(_ publication: RemoteTrackPublication, _ reason: String, _ wasWanted: Bool) -> Omission {
    Omission(
      sid: publication.sid, kind: publication.kind, source: publication.source, participant: identity ?? "",
      reason: reason, wasWanted: wasWanted)
  }

  /// Notes at the end what was to be in the file and is not; what came after all was only late.
  func noteWhatNeverCame() {
    guard let output, output.isActive, let identity else { return }
    for omission in choice.missing(of: identity) { _ = omissions.note(omission) }
    for (kind, publication) in taken {
      let isEmpty = output.counts(of: kind).buffers == 0
      let hasCome = inputs[kind].map { $0.publication === publication && $0.track.packetsReceived > 0 } ?? false
      if hasCome, !isEmpty { omissions.came(publication.sid) }
      guard isEmpty, !omissions.has(publication.sid) else { continue }
      let reason = publication.isMuted ? "it was muted all the time" : "nothing of it has come"
      _ = omissions.note(omission(publication, reason, choice.isNamed(publication)))
    }
  }
}
