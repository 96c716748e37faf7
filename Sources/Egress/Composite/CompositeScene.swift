import MediaBridge
import MediaCore
import MediaPipelines

/// Who is seen and heard in a composite, brought into line with who is in the room. A tile or a voice that fails is taken out
/// alone.
struct CompositeScene {
  private var mix: RoomMix
  private let options: CompositeOptions
  private let frameInterval: Duration
  private let onFirstFrame: @Sendable () -> Void
  private var arranger: CompositeArranger
  /// Those that are shown now.
  var labels = LabelBoard()
  private var speakers = SpeakerTimes()
  private var inputs = SceneInputs()
  private var channels: ChannelPlan
  private var failed = FailedInputs()
  /// Why something of a kind is out that was tried since `move`, or since the beginning.
  private var failures: [Track.Kind: LiveKitError] = [:]
  /// By the server's ids of tracks.
  private var everFailed: Set<String> = []

  /// - Parameter onFirstFrame: called when the first frame of a tile has come, on a media thread.
  init(_ mix: RoomMix, _ options: CompositeOptions, onFirstFrame: @escaping @Sendable () -> Void) {
    self.onFirstFrame = onFirstFrame
    (self.mix, self.options, channels) = (mix, options, ChannelPlan(options.audioMixing))
    frameInterval = .seconds(1) / options.framerate
    arranger = CompositeArranger(
      options.layout, size: PixelSize(options.size), gap: options.scenery.gap, speakerHold: options.speakerHold)
  }

  var layout: CompositeLayout {
    get { arranger.layout }
    set { arranger.layout = newValue }
  }

  /// Nothing has been written yet: who is seen may move.
  mutating func forgetOrder() { arranger.forgetOrder() }

  /// Whether a frame of somebody was decoded.
  var isSeen: Bool { inputs.tiles.contains(where: \.hasShown) }
  /// Whether audio of somebody was decoded.
  var isHeard: Bool { inputs.voices.contains(where: \.gaps.hasBegun) }
  /// Whether a track was out for a while, or is.
  func hasFailed(_ sid: String) -> Bool { everFailed.contains(sid) }
  /// What has failed of a kind in the mix that is new.
  func failure(_ kind: Track.Kind) -> LiveKitError? { failures[kind] }
  /// Of all who are and were there.
  var losses: MixLosses {
    var losses = inputs.losses
    losses.framesNotMixed += mix.video?.pipeline.leftOut ?? 0
    return losses
  }

  /// - Parameters:
  ///   - publications: those that belong into it, in the order of their participants' coming.
  ///   - participants: who may publish.
  /// - Returns: those that are out from now on since something failed with them; the others are there.
  mutating func update(
    _ publications: [RemoteTrackPublication], of participants: [RemoteParticipant], at now: MediaTime
  ) -> [Omission] {
    var omissions: [Omission] = []
    inputs.takeLeft(at: now)
    speakers.note(participants, at: now)
    for (tile, error) in inputs.takeFailedTiles() {
      let publication = tile.track.flatMap { track in publications.first { $0.track === track } }
      omissions.append(fail(tile.sid, .video, publication, error, at: now))
    }
    for (voice, error) in inputs.takeFailedVoices() {
      guard let publication = publications.first(where: { $0.track === voice.track }) else { continue }
      omissions.append(fail(publication.sid, .audio, publication, error, at: now))
    }
    return omissions + show(publications, of: participants, at: now) + hear(publications, at: now)
  }

  private mutating func fail(
    _ sid: String, _ kind: Track.Kind, _ publication: RemoteTrackPublication?, _ error: LiveKitError, at now: MediaTime
  ) -> Omission {
    failed.note(sid, .init(publication), at: now)
    failures[kind] = error
    if let publication { everFailed.insert(publication.sid) }
    let what = kind == .video ? "seen" : "heard"
    return Omission(
      sid: publication?.sid ?? "", kind: kind, source: publication?.source ?? .camera,
      participant: publication?.participant?.identity ?? "",
      reason: "\(error.message); it is not \(what) for a while, and is tried again", wasWanted: true)
  }

  /// Those that are seen or heard now.
  func places(of publications: [RemoteTrackPublication]) -> [TrackGaps.Place] {
    publications.compactMap { publication in
      publication.track.flatMap(watch(of:)).map { watch in
        TrackGaps.Place(
          sid: publication.sid, kind: publication.kind, identity: publication.participant?.identity ?? "",
          watch: watch)
      }
    }
  }

  private func watch(of track: Track) -> GapWatch? {
    inputs.tiles.first { $0.track === track }?.gaps ?? inputs.voices.first { $0.track === track }?.gaps
  }

  // MARK: Video

  private mutating func show(
    _ publications: [RemoteTrackPublication], of participants: [RemoteParticipant], at now: MediaTime
  ) -> [Omission] {
    let seen = seen(publications, of: participants).filter {
      !failed.isOut($0.layout.sid, .init($0.publication), at: now)
    }
    let places = arranger.places(of: seen.map(\.layout), at: now)
    var omissions: [Omission] = []
    var changes: [(tile: CompositeTile, change: CompositeTile.Change)] = []
    for (level, placed) in places.enumerated() {
      guard let seen = seen.first(where: { $0.layout.sid == placed.sid }) else { continue }
      let look = CompositeTile.Look(
        place: placed.place, level: RoomMix.backgroundLevel + 1 + level, isAwaited: placed.isAwaited,
        isRounded: isRounded(placed.place, above: places[..<level]),
        label: seen.label, isMuted: seen.isMuted, placeholder: seen.placeholder,
        message: labels.text(of: seen.layout.speaker.identity))
      do throws(LiveKitError) {
        if let tile = try tile(for: seen) { changes.append((tile, try tile.change(to: look, seen.track))) }
      } catch {
        inputs.removeTile(placed.sid)
        omissions.append(fail(placed.sid, .video, seen.publication, error, at: now))
      }
    }
    // What takes time is done before or after, so that one mixed frame has all of them in their new places.
    let pipeline = mix.video?.pipeline
    let time = pipeline?.frame(at: .now) ?? now
    let left = inputs.leaveTiles { tile in !places.contains { $0.sid == tile.sid } }
    let placed = changes.compactMap { tile, change in tile.put(change, from: time) }
    pipeline?.change(left + placed, at: time)
    for (tile, change) in changes { tile.show(change) }
    return omissions
  }

  /// Beside rounded corners the background is seen: not where there is none to be seen, or another tile.
  private func isRounded(_ place: TilePlace, above others: ArraySlice<PlacedTrack>) -> Bool {
    mix.video?.rounding != nil && place.size != PixelSize(options.size)
      && !others.contains { $0.place.overlaps(place) }
  }

  /// Nil where no video is mixed.
  private mutating func tile(for seen: SeenTrack) throws(LiveKitError) -> CompositeTile? {
    if let tile = inputs.tiles.first(where: { $0.sid == seen.layout.sid }) { return tile }
    guard let video = mix.video else { return nil }
    let failed = Locked<LiveKitError?>(nil)
    let made = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try video.pipeline.addTile(video.tile, rounding: video.rounding) { failure in
        failed.withLock { $0 = $0 ?? LiveKitError(failure) }
      }
    }
    let painter = seen.layout.source == .camera ? mix.painter : nil
    let tile = CompositeTile(
      sid: seen.layout.sid, in: made, failed: failed, painter: painter, frameInterval: frameInterval,
      onFirstFrame: onFirstFrame)
    inputs.tiles.append(tile)
    return tile
  }

  /// All that may be seen. Where cameras have placeholders, that of a participant is one with its placeholder, which has
  /// the same tile.
  private func seen(_ publications: [RemoteTrackPublication], of participants: [RemoteParticipant]) -> [SeenTrack] {
    let video = publications.filter { $0.kind == .video }
    guard mix.painter != nil else { return video.compactMap { seen($0, $0.participant) } }
    var rest = video
    let cameras = participants.compactMap { participant in
      let camera = rest.firstIndex { $0.source == .camera && $0.participant === participant }
      return seen(camera.map { rest.remove(at: $0) }, participant, sid: "camera \(participant.identity ?? "")")
    }
    return cameras + rest.compactMap { seen($0, $0.participant) }
  }

  /// - Parameters:
  ///   - publication: nil for a placeholder alone.
  ///   - sid: under which it is laid out; nil for that of its track when it came.
  /// - Returns: nil where there is nothing to be seen.
  private func seen(
    _ publication: RemoteTrackPublication?, _ participant: Participant?, sid: String? = nil
  ) -> SeenTrack? {
    let track = publication?.track as? RemoteVideoTrack
    let tiles = inputs.tiles
    guard let sid = sid ?? track.flatMap({ track in tiles.first { $0.track === track }?.sid ?? publication?.sid })
    else { return nil }
    var layout = TileTrack(publication, sid: sid, speakers.speaker(of: participant))
    layout.hasShown = tiles.first { $0.sid == sid }?.hasShown == true
    return SeenTrack(layout: layout, publication: publication, participant, options)
  }

  // MARK: Audio

  /// Whoever leaves is heard for that much longer than a moment takes to be mixed.
  private static let rest = Duration.milliseconds(200)

  private mutating func hear(_ publications: [RemoteTrackPublication], at now: MediaTime) -> [Omission] {
    let end = now + (mix.audio?.pipeline.delay ?? .zero) + Self.rest
    inputs.keepVoices(until: end) { voice in publications.contains { $0.track === voice.track } }
    var omissions: [Omission] = []
    for publication in publications {
      guard let track = publication.track as? RemoteAudioTrack,
        !inputs.voices.contains(where: { $0.track === track }),
        !failed.isOut(publication.sid, .init(publication), at: now)
      else { continue }
      do throws(LiveKitError) { try hear(track, of: publication.participant) } catch {
        omissions.append(fail(publication.sid, .audio, publication, error, at: now))
      }
    }
    return omissions
  }

  private mutating func hear(_ track: RemoteAudioTrack, of participant: Participant?) throws(LiveKitError) {
    guard let audio = mix.audio else { return }
    let channel = channels.channel(of: participant?.identity ?? "", isAgent: participant?.kind == .agent)
    let failed = Locked<LiveKitError?>(nil)
    let voice = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try audio.pipeline.addAudio(audio.tile, channel: channel) { failure in
        failed.withLock { $0 = $0 ?? LiveKitError(failure) }
      }
    }
    inputs.voices.append(CompositeVoice(track, in: voice, failed: failed))
  }

  // MARK: Other texts

  /// Has all of a kind seen or heard in another mix from the next `update` on.
  /// - Returns: what is seen or heard of it now, to be cleared.
  mutating func move(_ kind: Track.Kind, to next: RoomMix) -> CompositeScene {
    var before = self
    before.inputs = inputs.take(kind, notMixed: mix.video?.pipeline.leftOut ?? 0)
    mix = mix.with(kind, of: next)
    failed.clear()
    failures[kind] = nil
    return before
  }

  /// Has all of a kind seen or heard as it was before `move`, whose result this is.
  mutating func moveBack(_ kind: Track.Kind, to before: CompositeScene) {
    var failed = move(kind, to: before.mix)
    failed.clear()
    inputs.give(kind, before.inputs)
    (self.failed, failures, everFailed) = (before.failed, before.failures, before.everFailed)
  }

  /// The tracks that are seen there and not here yet.
  func lacking(of before: CompositeScene) -> [RemoteVideoTrack] {
    before.inputs.tiles.compactMap { old in
      let isLacking = old.hasShown && inputs.tiles.first { $0.sid == old.sid }?.hasShown == false
      return isLacking ? old.track : nil
    }
  }

  /// Nobody is seen or heard after it returned.
  mutating func clear() { inputs.clear() }

  /// What was taken out of it and has not stopped yet.
  var stopping: StoppingInputs {
    get { inputs.stopping }
    set { inputs.stopping = newValue }
  }
}

/// What may be seen in a tile, and what is written there.
private struct SeenTrack {
  let layout: TileTrack
  /// Nil while there is only a placeholder.
  let publication: RemoteTrackPublication?
  let track: RemoteVideoTrack?
  let label: String?
  /// Whether the camera's owner has muted the microphone.
  let isMuted: Bool
  let placeholder: Placeholder?

  init(
    layout: TileTrack, publication: RemoteTrackPublication?, _ participant: Participant?, _ options: CompositeOptions
  ) {
    (self.layout, self.publication, track) = (layout, publication, publication?.track as? RemoteVideoTrack)
    let (name, identity) = (participant?.spokenName ?? "", participant?.identity ?? "")
    let published = (participant as? RemoteParticipant)?.trackPublications.values
    isMuted = layout.source == .camera && published?.contains { $0.source == .microphone && $0.isMuted } == true
    label = options.showsNames ? participant?.spokenName : nil
    let hasPlaceholder = options.showsPlaceholders && layout.source == .camera && (track == nil || layout.isMuted)
    placeholder =
      hasPlaceholder ? Placeholder(name: name, identity: identity, showsName: !options.showsNames) : nil
  }
}

extension Participant {
  /// What people call them.
  var spokenName: String? { name.flatMap { $0.isEmpty ? nil : $0 } ?? identity }
}

extension TileTrack {
  /// - Parameter publication: nil for a camera that there is not.
  fileprivate init(_ publication: RemoteTrackPublication?, sid: String, _ speaker: Speaker) {
    self.init(
      sid: sid, source: publication?.source ?? .camera, isMuted: publication?.isMuted ?? true,
      isPortrait: publication?.dimensions.map { $0.width <= $0.height } ?? false, speaker: speaker)
  }
}

/// Since when participants speak, as layouts want to know it: the server tells only whether they do.
private struct SpeakerTimes {
  private var known: [String: (isSpeaking: Bool, since: MediaTime?)] = [:]

  /// - Parameter participants: all who are there. Who has gone is forgotten.
  mutating func note(_ participants: [RemoteParticipant], at now: MediaTime) {
    known = participants.reduce(into: [:]) { times, participant in
      guard let identity = participant.identity else { return }
      let (wasSpeaking, since) = known[identity] ?? (false, nil)
      let isSpeaking = participant.isSpeaking
      times[identity] = (isSpeaking, isSpeaking && !wasSpeaking ? now : since)
    }
  }

  func speaker(of participant: Participant?) -> TileTrack.Speaker {
    guard let participant, let identity = participant.identity else { return TileTrack.Speaker() }
    return TileTrack.Speaker(
      identity: identity, joinedAt: Int64(participant.joinedAt?.timeIntervalSince1970 ?? 0),
      isSpeaking: known[identity]?.isSpeaking == true, audioLevel: Double(participant.audioLevel),
      lastSpokeAt: known[identity]?.since)
  }
}

extension FailedInputs.Format {
  fileprivate init(_ publication: RemoteTrackPublication?) {
    self.init(
      track: publication?.track.map { ObjectIdentifier($0) }, codec: publication?.media?.codec,
      size: publication?.dimensions)
  }
}
