import MediaBridge
import Synchronization

/// Collects what is said in a room as speech recognisers take it: 16-bit samples, mono, at 16 kHz.
final class Transcript: RoomDelegate, AudioRenderer, Sendable {
  let requiredFormat = AudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 16_000, channels: 1, interleaved: true)
  let samples = Mutex<[Int16]>([])

  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    (publication.track as? RemoteAudioTrack)?.add(audioRenderer: self)
  }

  // On a media thread.
  func render(pcmBuffer: AudioPCMBuffer) {
    guard let channel = pcmBuffer.int16ChannelData?[0] else { return }
    samples.withLock { $0 += UnsafeBufferPointer(start: channel, count: Int(pcmBuffer.frameLength)) }
  }
}
