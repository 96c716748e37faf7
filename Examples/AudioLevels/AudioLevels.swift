// Prints how loud everyone in a room is, twice a second, until Ctrl-C.
//
//     swift run AudioLevels [URL TOKEN]
//
// It shows an audio renderer that asks for a format of its own. Nobody shows the video of the room, so that adaptive
// stream leaves it at the server. Without URL and TOKEN it takes LIVEKIT_URL and LIVEKIT_TOKEN.

import ExampleSupport
import Foundation
import MediaBridge
import Synchronization

@main struct AudioLevels {
  static func main() async {
    await runExample { arguments in
      let (room, meters) = (Room(roomOptions: RoomOptions(audioPlayback: .off)), Meters())
      room.add(delegate: meters)
      try await room.connect(url: arguments.url, token: arguments.token)
      let printing = Task {
        while !Task.isCancelled {
          try await Task.sleep(for: .milliseconds(500))
          for line in meters.lines() { print(line) }
        }
      }
      await untilInterrupted(in: room)
      printing.cancel()
      await room.disconnect()
      if let error = room.disconnectError { throw error }
    }
  }
}

/// A meter for each audio track of a room, by the track's SID.
final class Meters: RoomDelegate, Sendable {
  private let meters = Mutex<[String: (name: String, meter: LevelMeter)]>([:])

  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    guard let track = publication.track as? RemoteAudioTrack else { return }
    let meter = LevelMeter()
    // A name from a stranger shall not write to the terminal more than letters.
    let name = FileNameTemplate.safe(participant.identity ?? "")
    meters.withLock { $0[publication.sid] = (name, meter) }
    track.add(audioRenderer: meter)
  }

  func room(_ room: Room, participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication) {
    _ = meters.withLock { $0.removeValue(forKey: publication.sid) }
  }

  func lines() -> [String] {
    meters.withLock { Array($0.values) }.sorted { $0.name < $1.name }.map { name, meter in
      let level = meter.takeLevel()
      let bar = String(repeating: "#", count: Int((max(level, -60) + 60) / 2))
      return "\(name)  \(String(format: "%5.1f", level)) dBFS  \(bar)"
    }
  }
}

/// Measures on a media thread, and is read by whoever prints.
final class LevelMeter: AudioRenderer, Sendable {
  let requiredFormat = AudioFormat(standardFormatWithSampleRate: 48_000, channels: 1)
  private let sum = Mutex((energy: Float(0), samples: 0))

  func render(pcmBuffer: AudioPCMBuffer) {
    guard let channel = pcmBuffer.floatChannelData?[0] else { return }
    let samples = UnsafeBufferPointer(start: channel, count: Int(pcmBuffer.frameLength))
    let energy = samples.reduce(0) { $0 + $1 * $1 }
    sum.withLock { $0 = ($0.energy + energy, $0.samples + samples.count) }
  }

  /// The root mean square since the last call in decibels below full scale, -120 for silence.
  func takeLevel() -> Float {
    let (energy, samples) = sum.withLock { sum in
      defer { sum = (0, 0) }
      return sum
    }
    return samples > 0 ? max(10 * log10(energy / Float(samples)), -120) : -120
  }
}
