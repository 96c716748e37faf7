import BridgeTesting
import Foundation
import MediaBridge
import MediaCore
import Testing

// "RemoteAudioTrack" of the LiveKit Swift SDK's documents. Its AudioVisualizer stands in MediaStreamTests.

private final class AudioLevelMonitor: AudioRenderer, Sendable {
  let levels = Locked<[Float]>([])

  func render(pcmBuffer: AVAudioPCMBuffer) {
    // Calculate audio level
    let level = calculateLevel(from: pcmBuffer)
    // Update UI or trigger events
    levels.withLock { $0.append(level) }
  }

  private func calculateLevel(from buffer: AVAudioPCMBuffer) -> Float {
    guard let channels = buffer.floatChannelData else { return 0 }
    return (0..<Int(buffer.frameLength)).reduce(0) { max($0, abs(channels[0][$1])) }
  }
}

private class AudioManager: RoomDelegate {
  var audioTracks: [String: RemoteAudioTrack] = [:]
  let visualizer = AudioLevelMonitor()
  let finished: @Sendable (RemoteAudioTrack) -> Void

  init(finished: @escaping @Sendable (RemoteAudioTrack) -> Void) { self.finished = finished }

  func room(
    _ room: Room,
    participant: RemoteParticipant,
    didSubscribe track: RemoteTrack,
    publication: RemoteTrackPublication
  ) {
    guard let audioTrack = track as? RemoteAudioTrack else { return }

    // Store reference
    audioTracks[participant.sid] = audioTrack

    // Add visualizer
    audioTrack.add(audioRenderer: visualizer)

    // Set volume based on participant role
    if participant.metadata?.contains("presenter") == true {
      audioTrack.volume = 1.0  // Full volume for presenter
    } else {
      audioTrack.volume = 0.7  // Reduced volume for others
    }

    // Enable statistics
    Task {
      await audioTrack.set(reportStatistics: true)
    }
    finished(audioTrack)
  }

  func room(
    _ room: Room,
    participant: RemoteParticipant,
    didUnsubscribe track: RemoteTrack,
    publication: RemoteTrackPublication
  ) {
    if track is RemoteAudioTrack {
      audioTracks.removeValue(forKey: participant.sid)
      print("\(audioTracks.count) left")
    }
  }

  func room(
    _ room: Room,
    participant: RemoteParticipant,
    publication: RemoteTrackPublication,
    didUpdateIsMuted isMuted: Bool
  ) {
    if publication.kind == .audio {
      print("\(participant.identity ?? "") audio is now \(isMuted ? "muted" : "unmuted")")
    }
  }

  // Mute all remote audio
  func muteAll() {
    // swift-format-ignore: ReplaceForEachWithForLoop
    audioTracks.values.forEach { $0.volume = 0.0 }
  }

  // Restore audio
  func unmuteAll() {
    // swift-format-ignore: ReplaceForEachWithForLoop
    audioTracks.values.forEach { $0.volume = 1.0 }
  }
}

extension SeedsTests {
  @Suite struct Page004 {
    @Test func anAudioManager() async throws {
      let tracks = Collector<RemoteAudioTrack>()
      let manager = AudioManager { tracks.add($0) }
      let levels = manager.visualizer.levels
      try await inRoom(RoomOptions(audioPlayback: .off), delegate: manager) { room, watcher in
        let track = try await eventually("the track") { tracks.values.first }
        #expect(track.volume == 0.7 && track.kind == .audio && track.source == .microphone)
        manager.muteAll()
        #expect(track.volume == 0)
        manager.unmuteAll()
        #expect(track.volume == 1)
        // A volume is for playback: renderers hear the tone as it was sent.
        try await eventually("the tone") { levels.withLock { $0.max() ?? 0 } > 0.01 }
        try await eventually("statistics") { track.statistics?.inboundRtp?.first?.bytesReceived ?? 0 > 0 }
        let microphone = try await publication(.audio, in: room)
        watcher.tell { ($0.mute.sid, $0.mute.muted) = (microphone.sid, true) }
        try await eventually("the mute") { Printed.lines == ["alice audio is now muted"] }
      }
      try await eventually("the end") { Printed.lines.last == "0 left" }
    }
  }
}
