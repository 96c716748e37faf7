import BridgeTesting
import MediaBridge
import MediaCore
import Testing

/// What is told of a synthetic participant's tracks: VP8 at 640x360 and 25 a second, and a tone of 0.3 of full scale.
@Suite struct StatisticsTests {
  @Test func figuresAreToldEachSecondUntilTheyAreTurnedOff() async throws {
    let diary = Diary()
    try await Watcher.run(delegate: diary) { watcher in
      let (video, audio) = try await watcher.tracks()
      let (viewer, listener) = (VideoFrameHandler { _ in }, AudioBufferHandler { _ in })
      video.add(videoRenderer: viewer)
      audio.add(audioRenderer: listener)
      #expect(video.statistics == nil)
      for track in [video, audio] {
        track.delegates.add(delegate: diary)
        await track.set(reportStatistics: true)
        #expect(track.statistics?.inboundRtp?.first?.bps == 0)
      }
      try await eventually("four statistics of each") { diary.videos.count >= 4 && diary.audios.count >= 4 }
      check(frames: diary.videos, of: video)
      check(audio: diary.audios, of: audio)
      #expect(diary.roomVideos.prefix(4) == diary.videos.prefix(4))

      #expect(linesOfThePage(audio).contains { $0.hasPrefix("Bitrate: ") && $0.hasSuffix(" kbps") })
      #expect(linesOfThePage(video).contains("Resolution: 640x360"))
      await video.set(reportStatistics: false)
      #expect(video.statistics == nil)
      // One may have been under way.
      let counted = (diary.videos.count, diary.audios.count)
      try await eventually("more of the audio") { diary.audios.count >= counted.1 + 3 }
      #expect(diary.videos.count <= counted.0 + 1)
      await watcher.room.disconnect()
      #expect(audio.statistics?.inboundRtp?.first != nil, "what was measured last stays")
    }
  }

  /// What the pages do with statistics, in their words.
  private func linesOfThePage(_ track: Track) -> [String] {
    var lines: [String] = []
    if let stats = track.statistics {
      if let inbound = stats.inboundRtp?.first {
        lines.append("Received bytes: \(inbound.bytesReceived ?? 0)")
        lines.append("Packets lost: \(inbound.packetsLost ?? 0)")
        lines.append("Bitrate: \(inbound.formattedBps())")
        lines.append("FPS: \(inbound.framesPerSecond ?? 0)")
        lines.append("Resolution: \(inbound.frameWidth ?? 0)x\(inbound.frameHeight ?? 0)")
        lines.append("Bitrate: \(inbound.bps) bps")
      }
      if let outbound = stats.outboundRtp?.first {
        lines.append("Sent bytes: \(outbound.bytesSent ?? 0)")
        lines.append("Bitrate: \(outbound.formattedBps())")
      }
    }
    return lines
  }

  private func check(frames all: [InboundRtpStreamStatistics], of track: Track) {
    for (before, now) in zip(all, all.dropFirst()) {
      checkFlow(before, now)
      #expect((now.framesReceived ?? 0) > (before.framesReceived ?? 0))
    }
    guard let last = all.last else { return }
    checkStream(last, of: track, mimeType: "video/VP8")
    #expect(last.frameWidth == 640 && last.frameHeight == 360)
    // A machine that is busy with other things shows fewer; nobody shows more for long.
    #expect((15...30).contains(last.framesPerSecond ?? 0))
    #expect((100_000...2_000_000).contains(last.bps))
    #expect((last.framesDecoded ?? 0) > 0 && (last.framesDecoded ?? 0) <= (last.framesReceived ?? 0))
    #expect(last.framesDropped == 0)
    #expect(last.pliCount != nil && last.freezeCount != nil && last.audioLevel == nil)
  }

  private func check(audio all: [InboundRtpStreamStatistics], of track: Track) {
    for (before, now) in zip(all, all.dropFirst()) {
      checkFlow(before, now)
      let length = (now.totalSamplesDuration ?? 0) - (before.totalSamplesDuration ?? 0)
      #expect(abs(length - (now.timestamp - before.timestamp) / 1000) < 0.3)
    }
    guard let last = all.last else { return }
    checkStream(last, of: track, mimeType: "audio/opus")
    // The root of a sine's mean square.
    #expect(abs((last.audioLevel ?? 0) - 0.3 / 2.0.squareRoot()) < 0.02)
    #expect((last.totalAudioEnergy ?? 0) > 0 && last.frameWidth == nil && last.pliCount == nil)
    #expect((10_000...100_000).contains(last.bps))
  }

  private func checkFlow(_ before: InboundRtpStreamStatistics, _ now: InboundRtpStreamStatistics) {
    let milliseconds = now.timestamp - before.timestamp
    #expect((500...2500).contains(milliseconds))
    let bytes = Double(now.bytesReceived ?? 0) - Double(before.bytesReceived ?? 0)
    #expect(bytes > 0 && (now.packetsReceived ?? 0) > (before.packetsReceived ?? 0))
    #expect(abs(Double(now.bps) - bytes * 8000 / milliseconds) < 0.05 * Double(now.bps))
  }

  private func checkStream(_ inbound: InboundRtpStreamStatistics, of track: Track, mimeType: String) {
    #expect(inbound.trackIdentifier == track.sid && inbound.mimeType == mimeType && inbound.ssrc != nil)
    #expect(inbound.packetsLost == 0 && inbound.packetsDiscarded == 0 && inbound.nackCount == 0)
    #expect((0..<0.1).contains(inbound.jitter ?? -1))
    // On one machine, and measured: not a whole number of anything.
    #expect(inbound.roundTripTime.map { $0 > 0 && $0 < 0.5 } == true)
  }

  @Test func anOptionTurnsThemOnForEveryTrack() async throws {
    let events = Collector<RoomEvent>()
    try await Watcher.run(RoomOptions(reportRemoteTrackStatistics: true), events: events) { _ in
      let told = try await eventually("statistics of both") { () -> [String: TrackStatistics]? in
        var told: [String: TrackStatistics] = [:]
        for case .statisticsUpdated(let track, let statistics) in events.values {
          told[track.kind.description] = statistics
        }
        return told.count == 2 ? told : nil
      }
      #expect(told.values.allSatisfy { $0.inboundRtp?.count == 1 && $0.outboundRtp == [] })
      // Without a renderer nothing is decoded, and so nothing is known of video and audio themselves.
      let video = try #require(told["video"]?.inboundRtp?.first)
      #expect(video.framesDecoded == 0 && video.framesPerSecond == nil && video.frameWidth == nil)
      #expect(told["audio"]?.inboundRtp?.first?.audioLevel == nil)
    }
  }

  @Test func aTrackThatIsGoneIsNotKept() async throws {
    weak var video: RemoteVideoTrack?
    weak var audio: RemoteAudioTrack?
    try await Watcher.run(RoomOptions(reportRemoteTrackStatistics: true)) { watcher in
      let tracks = try await watcher.tracks()
      (video, audio) = tracks
      try await eventually("the first statistics") { [tracks] in tracks.0.statistics != nil }
    }
    try await eventually("the tracks to be gone") { [weak video, weak audio] in video == nil && audio == nil }
  }
}

/// Keeps what it is told.
private final class Diary: RoomDelegate, TrackDelegate, Sendable {
  private let told = Collector<(isRoom: Bool, inbound: InboundRtpStreamStatistics)>()

  private func inbound(isRoom: Bool, _ kind: String) -> [InboundRtpStreamStatistics] {
    told.values.filter { $0.isRoom == isRoom && $0.inbound.kind == kind }.map(\.inbound)
  }
  var videos: [InboundRtpStreamStatistics] { inbound(isRoom: false, "video") }
  var audios: [InboundRtpStreamStatistics] { inbound(isRoom: false, "audio") }
  var roomVideos: [InboundRtpStreamStatistics] { inbound(isRoom: true, "video") }

  // As the pages spell them.
  func track(
    _ track: Track, didUpdateStatistics statistics: TrackStatistics, simulcastStatistics: [VideoCodec: TrackStatistics]
  ) {
    if let inbound = statistics.inboundRtp?.first { told.add((false, inbound)) }
  }
  func room(
    _ room: Room, track: RemoteVideoTrack, didUpdateStatistics statistics: TrackStatistics,
    simulcastStatistics: [VideoCodec: TrackStatistics]
  ) {
    if let inbound = statistics.inboundRtp?.first { told.add((true, inbound)) }
  }
}
