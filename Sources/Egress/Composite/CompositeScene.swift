import MediaBridge
import MediaCore
import MediaPipelines

/// Who is seen and heard in a composite, brought into line with who is in the room.
struct CompositeScene {
  private var mix: RoomMix
  private let options: CompositeOptions
  private let frameInterval: Duration
  private var arranger: CompositeArranger
  /// Those that are shown now.
  var labels = LabelBoard()
  private var speakers = SpeakerTimes()
  private var tiles: [CompositeTile] = []
  private var voices: [CompositeVoice] = []
  private var channels: ChannelPlan

  init(_ mix: RoomMix, _ options: CompositeOptions) {
    (self.mix, self.options, channels) = (mix, options, ChannelPlan(options.audioMixing))
    frameInterval = .seconds(1) / options.framerate
    arranger = CompositeArranger(
      options.layout, size: PixelSize(options.size), gap: options.scenery.gap, speakerHold: options.speakerHold)
  }

  var layout: CompositeLayout {
    get { arranger.layout }
    set { arranger.layout = newValue }
  }

  /// Whether a frame of somebody was decoded.
  var isSeen: Bool { tiles.contains(where: \.hasShown) }
  /// Whether audio of somebody was decoded.
  var isHeard: Bool { voices.contains(where: \.isHeard) }

  /// - Parameters:
  ///   - publications: those that belong into it, in the order of their participants' coming.
  ///   - participants: who may publish.
  /// - Throws: what keeps a track out; the others are there.
  mutating func update(
    _ publications: [RemoteTrackPublication], of participants: [RemoteParticipant], at now: MediaTime
  ) throws(LiveKitError) {
    var failure: LiveKitError?
    do throws(LiveKitError) { try show(publications, of: participants, at: now) } catch { failure = error }
    do throws(LiveKitError) { try hear(publications) } catch { failure = failure ?? error }
    if let failure { throw failure }
  }

  // MARK: Video

  private mutating func show(
    _ publications: [RemoteTrackPublication], of participants: [RemoteParticipant], at now: MediaTime
  ) throws(LiveKitError) {
    let seen = seen(publications, of: participants, at: now)
    let places = arranger.places(of: seen.map(\.layout), at: now)
    for tile in tiles where !places.contains(where: { $0.sid == tile.sid }) { tile.remove() }
    tiles.removeAll { tile in !places.contains { $0.sid == tile.sid } }
    for (level, (sid, place)) in places.enumerated() {
      guard let seen = seen.first(where: { $0.layout.sid == sid }) else { continue }
      let look = CompositeTile.Look(
        place: place, level: RoomMix.backgroundLevel + 1 + level, label: seen.label, isMuted: seen.isMuted,
        placeholder: seen.placeholder, message: labels.text(of: seen.layout.speaker.identity))
      try tile(for: seen)?.show(seen.track, look)
    }
  }

  /// Nil where no video is mixed.
  private mutating func tile(for seen: SeenTrack) throws(LiveKitError) -> CompositeTile? {
    if let tile = tiles.first(where: { $0.sid == seen.layout.sid }) { return tile }
    guard let video = mix.video else { return nil }
    let made = try LiveKitError.wrapping { () throws(PipelineFailure) in try video.pipeline.addTile(video.tile) }
    let painter = seen.layout.source == .camera ? mix.painter : nil
    let tile = CompositeTile(sid: seen.layout.sid, in: made, painter: painter, frameInterval: frameInterval)
    tiles.append(tile)
    return tile
  }

  /// All that may be seen. Where cameras have placeholders, that of a participant is one with its placeholder, which has
  /// the same tile.
  private mutating func seen(
    _ publications: [RemoteTrackPublication], of participants: [RemoteParticipant], at now: MediaTime
  ) -> [SeenTrack] {
    let video = publications.filter { $0.kind == .video }
    guard mix.painter != nil else { return video.compactMap { seen($0, $0.participant, at: now) } }
    var rest = video
    let cameras = participants.compactMap { participant in
      let camera = rest.firstIndex { $0.source == .camera && $0.participant === participant }
      return seen(camera.map { rest.remove(at: $0) }, participant, at: now, sid: "camera \(participant.identity ?? "")")
    }
    return cameras + rest.compactMap { seen($0, $0.participant, at: now) }
  }

  /// - Parameters:
  ///   - publication: nil for a placeholder alone.
  ///   - sid: under which it is laid out; nil for that of its track when it came.
  /// - Returns: nil where there is nothing to be seen.
  private mutating func seen(
    _ publication: RemoteTrackPublication?, _ participant: Participant?, at now: MediaTime, sid: String? = nil
  ) -> SeenTrack? {
    let track = publication?.track as? RemoteVideoTrack
    guard let sid = sid ?? track.flatMap({ track in tiles.first { $0.track === track }?.sid ?? publication?.sid })
    else { return nil }
    var layout = TileTrack(publication, sid: sid, speakers.speaker(of: participant, at: now))
    layout.hasShown = tiles.first { $0.sid == sid }?.hasShown == true
    return SeenTrack(layout: layout, track: track, participant, options)
  }

  // MARK: Audio

  private mutating func hear(_ publications: [RemoteTrackPublication]) throws(LiveKitError) {
    let tracks = publications.compactMap { $0.track as? RemoteAudioTrack }
    for voice in voices where !tracks.contains(where: { $0 === voice.track }) { voice.remove() }
    voices.removeAll { voice in !tracks.contains { $0 === voice.track } }
    for publication in publications {
      guard let track = publication.track as? RemoteAudioTrack, !voices.contains(where: { $0.track === track }) else {
        continue
      }
      try hear(track, of: publication.participant)
    }
  }

  private mutating func hear(_ track: RemoteAudioTrack, of participant: Participant?) throws(LiveKitError) {
    guard let audio = mix.audio else { return }
    let channel = channels.channel(of: participant?.identity ?? "", isAgent: participant?.kind == .agent)
    let voice = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try audio.pipeline.addAudio(audio.tile, channel: channel)
    }
    voices.append(CompositeVoice(track, in: voice))
  }

  /// Has all of a kind seen or heard in another mix from the next `update` on.
  /// - Returns: what is seen or heard of it now, to be cleared.
  mutating func move(_ kind: Track.Kind, to next: RoomMix) -> CompositeScene {
    var before = self
    if kind == .video { (before.voices, tiles) = ([], []) } else { (before.tiles, voices) = ([], []) }
    mix = mix.with(kind, of: next)
    return before
  }

  /// Has all of a kind seen or heard as it was before `move`, whose result this is.
  mutating func moveBack(_ kind: Track.Kind, to before: CompositeScene) {
    var failed = move(kind, to: before.mix)
    failed.clear()
    if kind == .video { tiles = before.tiles } else { voices = before.voices }
  }

  /// The tracks that are seen there and not here yet.
  func lacking(of before: CompositeScene) -> [RemoteVideoTrack] {
    before.tiles.compactMap { old in
      let isLacking = old.hasShown && tiles.first { $0.sid == old.sid }?.hasShown == false
      return isLacking ? old.track : nil
    }
  }

  /// Nobody is seen or heard after it returned.
  mutating func clear() {
    for tile in tiles { tile.remove() }
    for voice in voices { voice.remove() }
    (tiles, voices) = ([], [])
  }
}

/// What may be seen in a tile, and what is written there.
private struct SeenTrack {
  let layout: TileTrack
  /// Nil while there is only a placeholder.
  let track: RemoteVideoTrack?
  let label: String?
  /// Whether the camera's owner has muted the microphone.
  let isMuted: Bool
  let placeholder: Placeholder?

  init(layout: TileTrack, track: RemoteVideoTrack?, _ participant: Participant?, _ options: CompositeOptions) {
    (self.layout, self.track) = (layout, track)
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

  mutating func speaker(of participant: Participant?, at now: MediaTime) -> TileTrack.Speaker {
    guard let participant, let identity = participant.identity else { return TileTrack.Speaker() }
    let isSpeaking = participant.isSpeaking
    var times = known[identity] ?? (false, nil)
    if isSpeaking, !times.isSpeaking { times.since = now }
    times.isSpeaking = isSpeaking
    known[identity] = times
    return TileTrack.Speaker(
      identity: identity, joinedAt: Int64(participant.joinedAt?.timeIntervalSince1970 ?? 0), isSpeaking: isSpeaking,
      audioLevel: Double(participant.audioLevel), lastSpokeAt: times.since)
  }
}
