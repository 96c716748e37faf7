import LiveKitProtocol
import MediaCore

/// One room: who is in it, what they publish, and who gets what. Lives on the server's loop.
final class DevRoom {
  let name: String
  let sid = Identifier.make("RM_")
  private(set) var participants: [DevParticipant] = []
  private var departures: [(time: MediaTime, info: Livekit_ParticipantInfo)] = []
  /// Longer than a lost connection goes unnoticed.
  private static let departureMemory = Duration.seconds(60)
  /// As those who are here were told.
  private var isRecorded = false

  init(name: String) { self.name = name }

  var isEmpty: Bool { participants.isEmpty }

  var info: Livekit_Room {
    var room = Livekit_Room()
    room.sid = sid
    room.name = name
    room.numParticipants = UInt32(participants.filter { !$0.isHidden }.count)
    room.activeRecording = participants.contains(where: \.isRecorder)
    return room
  }

  func others(than participant: DevParticipant) -> [DevParticipant] { participants.filter { $0 !== participant } }

  func participant(identity: String) -> DevParticipant? { participants.first { $0.identity == identity } }

  func participant(sid: String) -> DevParticipant? { participants.first { $0.sid == sid } }

  func add(_ participant: DevParticipant) {
    participants.append(participant)
    participant.welcome()
    announce(participant)
    tellRecording()
  }

  /// One who was in another room until now.
  func receive(_ participant: DevParticipant) {
    participants.append(participant)
    announce(participant)
    tellRecording()
    participant.subscribeToAll()
    for track in participant.publisher.tracks where track.isFlowing { send(track, of: participant) }
  }

  func remove(_ participant: DevParticipant) {
    guard let index = participants.firstIndex(where: { $0 === participant }) else { return }
    participants.remove(at: index)
    participant.info.state = .disconnected
    for track in participant.publisher.tracks { unsubscribeAll(from: track) }
    announce(participant)
    tellRecording()
    departures.removeAll { MediaTime.now - $0.time > Self.departureMemory }
    departures.append((.now, participant.info))
  }

  /// Who records may be hidden, but not that somebody does.
  private func tellRecording() {
    let info = info
    guard isRecorded != info.activeRecording else { return }
    isRecorded = info.activeRecording
    var response = Livekit_SignalResponse()
    response.roomUpdate.room = info
    for participant in participants { participant.send(response) }
  }

  /// Of which `participant`, who had lost the connection, may not have heard.
  func recentDepartures(for participant: DevParticipant) -> [Livekit_ParticipantInfo] {
    departures.map(\.info).filter(participant.isTold)
  }

  /// Tells the others what has become of `participant`, who is told its own changes, too.
  func announce(_ participant: DevParticipant) {
    participant.info.version += 1
    participant.info.tracks = participant.publisher.tracks.filter(\.isFlowing).map(\.info)
    participant.info.isPublisher = !participant.info.tracks.isEmpty
    var response = Livekit_SignalResponse()
    response.update.participants = [participant.info]
    let audience = participant.isHidden ? participants.filter { $0 === participant } : participants
    for other in audience where other.isTold(of: participant.info) { other.send(response) }
  }

  /// A track whose media has begun: announced, and sent to those who subscribe on their own.
  func trackStarted(_ track: PublishedTrack, of publisher: DevParticipant) {
    announce(publisher)
    send(track, of: publisher)
  }

  /// A track comes in its other codec, for which somebody waits, or to which everybody changes over.
  func backupStarted() { for participant in participants { participant.subscriber.startTracks() } }

  private func send(_ track: PublishedTrack, of publisher: DevParticipant) {
    for other in others(than: publisher) where other.subscribesAutomatically && other.isActive {
      other.subscriber.subscribe(to: track, of: publisher)
    }
  }

  func trackEnded(_ track: PublishedTrack, of publisher: DevParticipant) {
    unsubscribeAll(from: track)
    var response = Livekit_SignalResponse()
    response.trackUnpublished.trackSid = track.sid
    publisher.send(response)
    announce(publisher)
  }

  private func unsubscribeAll(from track: PublishedTrack) {
    for participant in participants { participant.subscriber.unsubscribe(from: track.sid) }
  }

  /// A publisher lets others receive its tracks, or no longer.
  func permissionsChanged(of publisher: DevParticipant) {
    for other in others(than: publisher) {
      for track in publisher.publisher.tracks where track.isFlowing {
        other.subscriber.permissionChanged(for: track, of: publisher)
      }
    }
  }

  /// Tells a speaker, and those who are sent something of it, how loud it speaks now, or that it no longer does. Of who
  /// is hidden nobody else hears.
  func tell(_ speech: Livekit_SpeakerInfo, of speaker: DevParticipant) {
    var response = Livekit_SignalResponse()
    response.speakersChanged.speakers = [speech]
    speaker.send(response)
    guard !speaker.isHidden else { return }
    for other in others(than: speaker) where other.subscriber.isSubscribed(to: speaker.sid) { other.send(response) }
  }

  /// What the others publish.
  func tracks(for participant: DevParticipant) -> [(track: PublishedTrack, publisher: DevParticipant)] {
    others(than: participant).flatMap { other in
      other.publisher.tracks.filter(\.isFlowing).map { (track: $0, publisher: other) }
    }
  }

  func track(sid: String) -> (track: PublishedTrack, publisher: DevParticipant)? {
    for participant in participants {
      if let track = participant.publisher.tracks.first(where: { $0.sid == sid }) { return (track, participant) }
    }
    return nil
  }

  /// Hands a data message to the others, or to those it names. Who is hidden is not named, but for the SID by which
  /// clients tell what has come before. An agent may begin a text in the name of another one, and goes on in its own.
  func relay(_ packet: Livekit_DataPacket, from sender: DevParticipant, isReliable: Bool) {
    var packet = packet
    packet.kind = isReliable ? .reliable : .lossy
    packet.participantSid = sender.sid
    if sender.info.kind == .agent, packet.beginsTextOfAnother(than: sender.identity) {
      packet.streamHeader.textHeader.generated = true
    } else {
      packet.participantIdentity = sender.isHidden ? "" : sender.identity
    }
    if case .user = packet.value {
      packet.user.participantSid = sender.isHidden ? "" : sender.sid
      packet.user.participantIdentity = packet.participantIdentity
    }
    let destinations = Set(packet.destinationIdentities)
    for other in others(than: sender) where destinations.isEmpty || destinations.contains(other.identity) {
      other.channels.send(packet, isReliable: isReliable)
    }
  }
}

extension Livekit_DataPacket {
  fileprivate func beginsTextOfAnother(than identity: String) -> Bool {
    guard case .streamHeader(let header) = value, case .textHeader = header.contentHeader else { return false }
    return !participantIdentity.isEmpty && participantIdentity != identity
  }
}

/// Ids in LiveKit's form: a prefix for the kind and twelve random letters and digits.
enum Identifier {
  private static let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789")

  static func make(_ prefix: String) -> String {
    prefix + String((0..<12).map { _ in alphabet[Int.random(in: alphabet.indices)] })
  }
}
