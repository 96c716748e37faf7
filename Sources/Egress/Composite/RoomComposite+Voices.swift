import MediaBridge
import MediaCore
import MediaPipelines

// Tracks of audio of one participant each, beside the mix.
extension RoomComposite {
  var hasVoices: Bool { options.audioTracks == .participant && options.kinds.contains(.audio) }

  /// Brings them into line with who is in the room.
  func followVoices(_ wanted: [RemoteTrackPublication]) {
    guard hasVoices else { return }
    let audio = wanted.filter { $0.kind == .audio }
    members.voices.list.follow(audio.map(VoiceList.Track.init))
    guard let lacks = job.run?.give(members.voices.list.all, at: .now), let run else { return }
    members.voices.feed(audio, run.job, lacking: lacks, while: mixing.gate.isOpen)
    for publication in audio { members.voices.lacks[publication.sid].map { omit(publication, $0) } }
  }
}

/// Those who have tracks of their own, and what arrives of them.
struct VoiceTracks: Sendable {
  var list = VoiceList()
  private var inputs: [VoiceInput] = []
  /// Why what is published has no track of its own, or nothing of it comes, by sid.
  private(set) var lacks: [String: String] = [:]

  func lack(_ sid: String) -> Bool { lacks[sid] != nil }

  /// Takes what arrives in the forms that are wanted now.
  /// - Parameters:
  ///   - refusals: why there is no track, by the voice's number.
  ///   - isOpen: asked with the time of what arrives, whether it is still to be written.
  mutating func feed(
    _ publications: [RemoteTrackPublication], _ job: Job, lacking refusals: [Int: String],
    while isOpen: @escaping @Sendable (MediaTime) -> Bool
  ) {
    inputs.removeAll { input in
      let isOver = !publications.contains { $0.sid == input.sid && $0.media == input.media }
      if isOver { input.stop() }
      return isOver
    }
    for publication in publications where !inputs.contains(where: { $0.sid == publication.sid }) {
      guard let media = publication.media, let number = list.numbers[publication.sid] else { continue }
      inputs.append(VoiceInput(publication.sid, media, number))
    }
    for index in inputs.indices { inputs[index].feed(job, while: isOpen) }
    lacks = inputs.reduce(into: [:]) { $0[$1.sid] = $1.failure.withLock { $0?.message } }
    for publication in publications {
      guard let number = list.numbers[publication.sid] else {
        lacks[publication.sid] = "\(VoiceList.limit) have a track of their own already; it is in the mix alone"
        continue
      }
      lacks[publication.sid] = lacks[publication.sid] ?? refusals[number]
    }
  }

  mutating func stop() {
    for input in inputs { input.stop() }
    inputs = []
  }
}

/// The audio of one, as it arrives for its own track.
private struct VoiceInput: Sendable {
  let sid: String
  let media: IncomingMedia
  let number: Int
  /// Why nothing comes, or did not for a while.
  let failure = Locked<LiveKitError?>(nil)
  /// By whether they get it decoded.
  private var consumers: [Bool: MediaConsumer] = [:]
  /// Of those that there was no pipeline for; one that has failed since is brought back by itself.
  private var pauses: [Bool: RetryPause] = [:]

  init(_ sid: String, _ media: IncomingMedia, _ number: Int) {
    (self.sid, self.media, self.number) = (sid, media, number)
  }

  mutating func feed(_ job: Job, while isOpen: @escaping @Sendable (MediaTime) -> Bool) {
    for isRaw in [false, true] {
      guard job.wants(.audio, voice: number, isRaw: isRaw) else {
        consumers.removeValue(forKey: isRaw)?.stop()
        continue
      }
      guard consumers[isRaw] == nil, pauses[isRaw]?.isOver(at: .now) != false else { continue }
      let (failure, lines, number) = (failure, job.media, number)
      do throws(LiveKitError) {
        consumers[isRaw] = try media.consume(
          isRaw: isRaw, onFailure: { error in failure.withLock { $0 = error } },
          onBuffer: {
            if let time = $0.pts, isOpen(time) { lines.write($0, .audio, voice: number, isRaw: isRaw) }
          })
      } catch {
        failure.withLock { $0 = error }
        pauses[isRaw, default: RetryPause()].next(at: .now)
      }
    }
  }

  func stop() { for consumer in consumers.values { consumer.stop() } }
}

extension VoiceList.Track {
  fileprivate init(_ publication: RemoteTrackPublication) {
    let participant = publication.participant
    self.init(
      sid: publication.sid, identity: participant?.identity ?? "", name: participant?.spokenName ?? "",
      isScreen: publication.source == .screenShareAudio)
  }
}
