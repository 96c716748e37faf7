import Foundation
import MediaBridge
import MediaCore
import MediaPipelines

// Which tracks go into the file, and what becomes of them: one that is published anew, or comes later, goes on in it.
extension Recorder {
  func heed(_ event: RoomEvent) async {
    tracks.followSids()
    switch event {
    case .trackPublished(let participant, let publication):
      await consider(publication, of: participant)
      passOver([participant])
    case .trackUnpublished(let participant, let publication): await unpublished(publication, by: participant)
    case .trackSubscribed(_, let publication, _): joined(publication)
    case .trackUnsubscribed(_, let publication, _): left(publication)
    case .codecChanged: await followMedia()
    case .muteChanged(_, let publication, let isMuted): muteChanged(publication, to: isMuted)
    case .subscriptionFailed(_, let sid, let error): failed(sid, error)
    case .participantDisconnected(let participant): departed(participant)
    case .participantConnected(let participant): returned(participant)
    default: break
    }
  }

  // MARK: Leaving

  func departed(_ participant: RemoteParticipant) {
    guard let identity, participant.identity == identity, room.remoteParticipants[identity] == nil,
      !job.presence.isAway
    else { return }
    job.presence.isAway = true
    tell(.participantLeft(identity))
  }

  private func returned(_ participant: RemoteParticipant) {
    guard let identity, participant.identity == identity, job.presence.isAway else { return }
    job.presence.isAway = false
    tell(.participantReturned(identity))
  }

  // MARK: Choosing

  /// Takes what of a participant belongs into the file and is not in it.
  func consider(_ participant: RemoteParticipant) async {
    for publication in TrackChoice.ordered(Array(participant.trackPublications.values)) {
      await consider(publication, of: participant)
    }
  }

  private func consider(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) async {
    let kind = publication.kind
    guard participant.identity == tracks.identity, let run, tracks.taken[kind] !== publication else { return }
    if asked.wantedKinds.contains(kind), let refusal = run.refusal(of: kind) {
      return omit(publication, refusal.message, wasWanted: false)
    }
    let choice = tracks.choice
    guard tracks.taken[kind] == nil, choice.accepts(publication), run.has(kind) else {
      return omit(publication, choice.reason(against: publication), wasWanted: choice.isNamed(publication))
    }
    await take(publication)
    joined(publication)
  }

  /// Subscribes to it for the file.
  func take(_ publication: RemoteTrackPublication) async {
    tracks.take(publication)
    await subscriptions.add(publication)
    guard let refusal = publication.refusal else { return tracks.forgetOmission(of: publication.sid) }
    omit(publication, refusal.message, wasWanted: true)
  }

  private func unpublished(_ publication: RemoteTrackPublication, by participant: RemoteParticipant) async {
    subscriptions.forget(publication)
    guard tracks.taken[publication.kind] === publication else { return }
    tracks.taken[publication.kind] = nil
    // Another one of the same source takes its place.
    if participant.identity == tracks.identity { await consider(participant) }
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
    guard tracks.taken[kind] === publication, tracks.inputs[kind] == nil, let run, let media = publication.media else {
      return
    }
    guard run.has(kind) else { throw run.refusal(of: kind) ?? LiveKitError(.invalidState, "nothing is written") }
    try follow(media, publication)
    let track = try attach(publication, media, run)
    if job.isTold { tell(.trackChanged(track)) }
  }

  /// Has each output go on with what comes in a form in which it did not before.
  private func follow(_ media: IncomingMedia, _ publication: RemoteTrackPublication) throws(LiveKitError) {
    let changes = try job.run?.follow(media, publication) ?? []
    for change in changes { tell(.codecChanged(change)) }
  }

  /// A sender may begin to send spatial layers at any time, which are encoded from then on.
  func followLayers() {
    guard let input = tracks.inputs[.video], input.media.hasSpatialLayers else { return }
    do { try follow(input.media, input.publication) } catch {
      omit(input.publication, error.message, wasWanted: true)
    }
  }

  private func attach(
    _ publication: RemoteTrackPublication, _ media: IncomingMedia, _ run: JobRun
  ) throws(LiveKitError) -> OutputTrack {
    let kind = publication.kind
    let track = OutputTrack(
      sid: publication.sid, kind: kind, codec: media.codec, isPassthrough: run.isPassthrough(kind),
      dimensions: publication.dimensions)
    var input = RecordedTracks.Input(
      publication, media, RecordedTracks.Received(track, after: tracks.ended[kind]))
    input.feed(run.job)
    // At the beginning that is an end; later it is tried again.
    if !job.isTold, let refusal = input.refusal { throw refusal }
    // A server may send what was taken for impossible.
    tracks.forgetOmission(of: publication.sid)
    tracks.inputs[kind] = input
    if media.isVideo {
      run.video.withLock { $0 = media }
      setMuted(publication.isMuted, publication)
    }
    return track
  }

  // MARK: Muting

  private func muteChanged(_ publication: RemoteTrackPublication, to isMuted: Bool) {
    if !isMuted, tracks.taken[publication.kind] === publication { tracks.noteUnmuted(publication) }
    if publication.kind == .video, tracks.inputs[.video]?.publication === publication { setMuted(isMuted, publication) }
  }

  /// Says whether nothing is sent on purpose, which is black in the file.
  private func setMuted(_ isMuted: Bool, _ publication: RemoteTrackPublication) {
    guard let run, !run.job.media.setMuted(isMuted) else { return }
    let codec = tracks.inputs[.video]?.received.track.codec.uppercased() ?? "its codec"
    omit(
      publication,
      "while it is muted or gone the file shows its last frame and not black, which cannot be written into such "
        + "\(codec); a file name that has it encoded (.mp4 for VP9, .webm for H.264) or --encode shows black",
      wasWanted: false)
  }

  private func left(_ publication: RemoteTrackPublication) {
    guard let input = tracks.inputs[publication.kind], input.publication === publication,
      publication.media != input.media
    else { return }
    // What ends with the connection has not been ended on purpose.
    if publication.kind == .video, room.connectionState == .connected { setMuted(true, publication) }
    remove(publication.kind)
  }

  func remove(_ kind: Track.Kind) {
    tellInterruptions()
    if let sid = tracks.inputs[kind]?.sid { job.arrivals.close(sid) }
    tracks.remove(kind)
    if kind == .video { run?.video.withLock { $0 = nil } }
  }

  /// A track of which nothing comes for a while stops only itself, and not in a form in which it comes.
  func tellInterruptions() {
    for (publication, error) in tracks.takeInterruptions() { omit(publication, error.message, wasWanted: true) }
  }

  /// A track may go on in another session of the room, or in another codec, without having ended.
  func followMedia() async {
    tracks.followSids()
    for input in tracks.inputs.values {
      guard let media = input.publication.media, media != input.media else { continue }
      await countPackets(of: input)
      guard tracks.inputs[input.publication.kind]?.media == input.media else { continue }
      remove(input.publication.kind)
      joined(input.publication)
    }
  }

  // MARK: What is left out

  /// The server does not send it, or nothing of it comes.
  private func failed(_ sid: String, _ error: LiveKitError) {
    guard let publication = tracks.taken.values.first(where: { $0.sid == sid }) else { return }
    // What it forbids for a while is missing from then on, even where it allows it again.
    if error.code == .permissionDenied, tracks.all.contains(where: { $0.track.sid == sid }) {
      tracks.noteInterruption(of: sid)
    }
    omit(publication, error.message, wasWanted: true)
  }

  private func omit(_ publication: RemoteTrackPublication, _ reason: String, wasWanted: Bool) {
    note(tracks.omission(publication, reason, wasWanted: wasWanted))
  }

  /// Notes whom of them it could have recorded as well. It is told once; the end names those, too, who came later.
  func passOver(_ participants: some Sequence<RemoteParticipant>) {
    guard options.mayBeAnybody, let identity else { return }
    let (names, choice) = (NamePatterns(options.participantPatterns), TrackChoice(options))
    let others = participants.filter { other in
      other.identity != identity && names.matches(other.identity)
        && other.trackPublications.values.contains(where: choice.accepts)
    }
    let isFirst = tracks.passedOver.identities.isEmpty
    guard tracks.passedOver.note(others.compactMap(\.identity)),
      let omission = tracks.passedOver.omission(besides: identity)
    else { return }
    if isFirst { note(omission) } else { _ = tracks.omissions.note(omission) }
  }
}
