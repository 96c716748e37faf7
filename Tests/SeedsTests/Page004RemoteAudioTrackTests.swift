import BridgeTesting
import Foundation
import MediaBridge
import MediaCore
import Testing

// "RemoteAudioTrack" of the LiveKit Swift SDK's documents.

private final class AudioLevelMonitor: AudioRenderer, Sendable {
  let levels = Collector<Float>()

  func render(pcmBuffer: AVAudioPCMBuffer) {
    // Calculate audio level
    let level = calculateLevel(from: pcmBuffer)
    // Update UI or trigger events
    levels.add(level)
  }

  private func calculateLevel(from buffer: AVAudioPCMBuffer) -> Float {
    guard let channels = buffer.floatChannelData else { return 0 }
    return (0..<Int(buffer.frameLength)).reduce(0) { max($0, abs(channels[0][$1])) }
  }
}

/// The page has it without `final` and `Sendable`: in Swift 6 mode what is handed to another queue has to be sendable.
private final class AudioVisualizer: AudioRenderer, Sendable {
  func render(pcmBuffer: AVAudioPCMBuffer) {
    guard let channelData = pcmBuffer.floatChannelData else { return }

    let frameLength = Int(pcmBuffer.frameLength)
    let channelCount = Int(pcmBuffer.format.channelCount)

    // Process audio samples
    for channel in 0..<channelCount {
      let samples = UnsafeBufferPointer(
        start: channelData[channel],
        count: frameLength
      )

      // Calculate RMS level for visualization
      let rms = sqrt(samples.map { $0 * $0 }.reduce(0, +) / Float(frameLength))

      DispatchQueue.main.async {
        self.updateVisualization(level: rms)
      }
    }
  }

  private func updateVisualization(level: Float) {
    // Update UI with audio level
    levels.add(level)
  }

  let levels = Collector<Float>()
}

private class AudioManager: RoomDelegate {
  var audioTracks: [String: RemoteAudioTrack] = [:]
  let visualizer = AudioVisualizer()
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
        let monitor = AudioLevelMonitor()
        track.add(audioRenderer: monitor)
        #expect(track.volume == 0.7 && track.kind == .audio && track.source == .microphone)
        manager.muteAll()
        #expect(track.volume == 0)
        manager.unmuteAll()
        #expect(track.volume == 1)
        // A volume is for playback: renderers hear the tone as it was sent, of 0.3 of the full level.
        try await eventually("the tone") { levels.count > 60 && monitor.levels.count > 60 }
        track.remove(audioRenderer: monitor)
        #expect(levels.values.suffix(20).allSatisfy { abs($0 - 0.3 / sqrt(2)) < 0.05 }, "\(levels.values.suffix(20))")
        #expect(monitor.levels.values.suffix(20).allSatisfy { abs($0 - 0.3) < 0.05 })
        try await eventually("statistics") { track.statistics?.inboundRtp?.first?.bytesReceived ?? 0 > 0 }
        let microphone = try await publication(.audio, in: room)
        watcher.tell { ($0.mute.sid, $0.mute.muted) = (microphone.sid, true) }
        try await eventually("the mute") { Printed.lines == ["alice audio is now muted"] }
      }
      try await eventually("the end") { Printed.lines.last == "0 left" }
    }
  }
}
