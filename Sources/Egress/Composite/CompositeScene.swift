import MediaBridge
import MediaCore
import MediaPipelines

/// Who is seen and heard in a composite, brought into line with who is in the room.
struct CompositeScene {
  private let mix: RoomMix
  private let showsNames: Bool
  private let frameInterval: Duration
  private var arranger: CompositeArranger
  private var speakers = SpeakerTimes()
  private var tiles: [CompositeTile] = []
  private var voices: [CompositeVoice] = []

  init(_ mix: RoomMix, _ options: CompositeOptions) {
    (self.mix, showsNames) = (mix, options.showsNames)
    frameInterval = .seconds(1) / options.framerate
    arranger = CompositeArranger(options.layout, size: PixelSize(options.size), speakerHold: options.speakerHold)
  }

  var layout: CompositeLayout {
    get { arranger.layout }
    set { arranger.layout = newValue }
  }

  /// Whether a frame of somebody was decoded.
  var isSeen: Bool { tiles.contains(where: \.hasShown) }
  /// Whether audio of somebody was decoded.
  var isHeard: Bool { voices.contains(where: \.isHeard) }

  /// - Parameter publications: those that belong into it, in the order of their participants' coming.
  /// - Throws: what keeps a track out; the others are there.
  mutating func update(_ publications: [RemoteTrackPublication], at now: MediaTime) throws(LiveKitError) {
    var failure: LiveKitError?
    do throws(LiveKitError) { try show(publications, at: now) } catch { failure = error }
    do throws(LiveKitError) { try hear(publications) } catch { failure = failure ?? error }
    if let failure { throw failure }
  }

  // MARK: Video

  private mutating func show(_ publications: [RemoteTrackPublication], at now: MediaTime) throws(LiveKitError) {
    var shown: [String: (track: RemoteVideoTrack, label: String?)] = [:]
    var seen: [TileTrack] = []
    for publication in publications {
      guard let track = publication.track as? RemoteVideoTrack else { continue }
      let sid = tiles.first { $0.track === track }?.sid ?? publication.sid
      let participant = publication.participant
      shown[sid] = (track, showsNames ? participant?.spokenName : nil)
      seen.append(TileTrack(publication, sid: sid, speakers.speaker(of: participant, at: now)))
    }
    let places = arranger.places(of: seen, at: now)
    for tile in tiles where !places.contains(where: { $0.sid == tile.sid }) || shown[tile.sid]?.track !== tile.track {
      tile.remove()
      tiles.removeAll { $0 === tile }
    }
    for (level, (sid, place)) in places.enumerated() {
      guard let (track, label) = shown[sid] else { continue }
      // The background is below all.
      try show(track, sid, CompositeTile.Look(place: place, level: level + 1, label: label))
    }
  }

  private mutating func show(
    _ track: RemoteVideoTrack, _ sid: String, _ look: CompositeTile.Look
  ) throws(LiveKitError) {
    if let tile = tiles.first(where: { $0.sid == sid }) { return tile.show(look) }
    guard let video = mix.video else { return }
    let tile = try LiveKitError.wrapping { () throws(PipelineFailure) in try video.pipeline.addTile(video.tile) }
    tiles.append(CompositeTile(track, sid: sid, in: tile, look, frameInterval: frameInterval))
  }

  // MARK: Audio

  private mutating func hear(_ publications: [RemoteTrackPublication]) throws(LiveKitError) {
    let tracks = publications.compactMap { $0.track as? RemoteAudioTrack }
    for voice in voices where !tracks.contains(where: { $0 === voice.track }) { voice.remove() }
    voices.removeAll { voice in !tracks.contains { $0 === voice.track } }
    guard let audio = mix.audio else { return }
    for track in tracks where !voices.contains(where: { $0.track === track }) {
      let voice = try LiveKitError.wrapping { () throws(PipelineFailure) in try audio.pipeline.addAudio(audio.tile) }
      voices.append(CompositeVoice(track, in: voice))
    }
  }

  /// Nobody is seen or heard after it returned.
  mutating func clear() {
    for tile in tiles { tile.remove() }
    for voice in voices { voice.remove() }
    (tiles, voices) = ([], [])
  }
}

extension Participant {
  /// What people call them.
  fileprivate var spokenName: String? { name.flatMap { $0.isEmpty ? nil : $0 } ?? identity }
}

extension TileTrack {
  fileprivate init(_ publication: RemoteTrackPublication, sid: String, _ speaker: Speaker) {
    self.init(
      sid: sid, source: publication.source, isMuted: publication.isMuted,
      isPortrait: publication.dimensions.map { $0.width <= $0.height } ?? false, speaker: speaker)
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
      joinedAt: Int64(participant.joinedAt?.timeIntervalSince1970 ?? 0), isSpeaking: isSpeaking,
      audioLevel: Double(participant.audioLevel), lastSpokeAt: times.since)
  }
}
