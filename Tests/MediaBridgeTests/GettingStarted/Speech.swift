import MediaBridge
import Synchronization

/// Collects what each one says in a room as speech recognisers take it: 16-bit samples, mono, at 16 kHz.
final class Transcript: RoomDelegate, Sendable {
  private let voices = Mutex<[String: VoiceSamples]>([:])

  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    guard let track = publication.track as? RemoteAudioTrack else { return }
    let voice = VoiceSamples()
    voices.withLock { $0[publication.sid] = voice }
    track.add(audioRenderer: voice)
  }

  func room(_ room: Room, participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication) {
    _ = voices.withLock { $0.removeValue(forKey: publication.sid) }
  }

  /// What was said since the last call, by the track's SID.
  func take() -> [String: [Int16]] { voices.withLock { $0 }.mapValues { $0.take() } }
}

/// The audio of one track, until somebody takes it.
final class VoiceSamples: AudioRenderer, Sendable {
  let requiredFormat = AudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 16_000, channels: 1, interleaved: true)
  private let samples = Mutex<[Int16]>([])

  // On a media thread.
  func render(pcmBuffer: AudioPCMBuffer) {
    guard let channel = pcmBuffer.int16ChannelData?[0] else { return }
    samples.withLock { $0 += UnsafeBufferPointer(start: channel, count: Int(pcmBuffer.frameLength)) }
  }

  func take() -> [Int16] {
    samples.withLock { samples in
      defer { samples = [] }
      return samples
    }
  }
}
