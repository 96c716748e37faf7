import BridgeTesting
import Foundation
import MediaBridge
import MediaCore
import Testing

// "Tracks" of the LiveKit Swift SDK's documents: what it says of tracks of others.

/// "Monitor dimension changes"
private class MyTrackDelegate: TrackDelegate {
  func track(_ track: VideoTrack, didUpdateDimensions dimensions: Dimensions?) {
    guard let dimensions = dimensions else { return }
    print("Video dimensions changed: \(dimensions.width) x \(dimensions.height)")
  }
}

/// "Example Usage"
private class TrackObserver: TrackDelegate {
  func track(_ track: VideoTrack, didUpdateDimensions dimensions: Dimensions?) {
    guard let dimensions = dimensions else { return }
    updateVideoLayout(for: dimensions)
  }

  func track(
    _ track: Track, didUpdateStatistics statistics: TrackStatistics,
    simulcastStatistics: [VideoCodec: TrackStatistics]
  ) {
    if let inbound = statistics.inboundRtp?.first {
      updateNetworkIndicator(packetsLost: inbound.packetsLost ?? 0)
    }
  }

  private func updateVideoLayout(for dimensions: Dimensions) { print("layout for \(dimensions)") }
  private func updateNetworkIndicator(packetsLost: Int64) { print("\(packetsLost) packets lost") }
}

extension SeedsTests {
  @Suite struct Page002 {
    @Test func propertiesOfATrack() async throws {
      try await inRoom { room, _ in
        let camera = try await publication(.video, in: room)
        let track = try await eventually("the track") { camera.track }
        #expect(track.sid == camera.sid && track.name == Track.cameraName && track.kind == .video)
        #expect(track.source == .camera && !track.isMuted && track.trackState == .started && track.statistics == nil)
        switch track.source {
        case .camera:
          print("Camera video track")
        case .microphone:
          print("Microphone audio track")
        case .screenShareVideo:
          print("Screen share video track")
        default:
          break
        }
        #expect(Printed.lines == ["Camera video track"])
        #expect([Track.microphoneName, Track.screenShareVideoName] == ["microphone", "screen_share"])
        // Start the track
        try await track.start()
        // Stop the track
        try await track.stop()
        #expect(track.trackState == .stopped)
      }
    }

    @Test func dimensionsAndTheNewestFrame() async throws {
      let myDelegate = MyTrackDelegate()
      try await inRoom { room, _ in
        let camera = try await publication(.video, in: room)
        let videoTrack = try await eventually("the track") { camera.track as? RemoteVideoTrack }
        videoTrack.delegates.add(delegate: myDelegate)
        #expect(videoTrack.videoFrame == nil)
        let renderer = VideoFrameHandler { _ in }
        videoTrack.add(videoRenderer: renderer)
        try await eventually("the size") { Printed.lines == ["Video dimensions changed: 640 x 360"] }
        if let dimensions = videoTrack.dimensions {
          print("Video size: \(dimensions.width) x \(dimensions.height)")
          print("Aspect ratio: \(videoTrack.aspectRatio)")
        }
        #expect(Printed.lines.suffix(2) == ["Video size: 640 x 360", "Aspect ratio: \(640.0 / 360.0)"])
        let videoFrame = try #require(videoTrack.videoFrame)
        // videoFrame is a VideoFrame object
        let buffer = videoFrame.buffer
        let rotation = videoFrame.rotation
        let timeStamp = videoFrame.timeStamp
        #expect(buffer.width == 640 && rotation == ._0 && timeStamp != 0)
        videoTrack.remove(videoRenderer: renderer)
        #expect(videoTrack.videoFrame == nil)
      }
    }

    @Test func statisticsOfARoomAndOfATrack() async throws {
      let roomOptions = RoomOptions(
        reportRemoteTrackStatistics: true
      )
      let observer = TrackObserver()
      try await inRoom(roomOptions) { room, _ in
        let camera = try await publication(.video, in: room)
        let track = try await eventually("the track") { camera.track as? RemoteVideoTrack }
        track.delegates.add(delegate: observer)
        track.add(videoRenderer: VideoFrameHandler { _ in })
        try await eventually("the statistics") { Printed.lines.contains("0 packets lost") }
        if let stats = track.statistics {
          if let inbound = stats.inboundRtp?.first {
            #expect(inbound.bytesReceived ?? 0 > 1000)
            print("Received bytes: \(inbound.bytesReceived ?? 0)")
            print("Packets lost: \(inbound.packetsLost ?? 0)")
            print("Bitrate: \(inbound.formattedBps())")
          }

          if let outbound = stats.outboundRtp?.first {
            print("Sent bytes: \(outbound.bytesSent ?? 0)")
            print("Bitrate: \(outbound.formattedBps())")
          }
        }
        #expect(Printed.lines.contains("Packets lost: 0") && Printed.lines.contains { $0.hasSuffix("bps") })
        #expect(!Printed.lines.contains { $0.hasPrefix("Sent") })
        await track.set(reportStatistics: false)
      }
    }
  }
}
