import BridgeTesting
import Foundation
import MediaBridge
import MediaCore
import Testing

/// Video and audio of a room in the ways that programs ask for them.
@Suite(.timeLimit(.minutes(1))) struct MediaStreamTests {
  private func withTracks(
    _ body: (Room, RemoteVideoTrack, RemoteAudioTrack) async throws -> Void
  ) async throws {
    try await Watcher.run { watcher in
      let (video, audio) = try await watcher.tracks()
      try await body(watcher.room, video, audio)
    }
  }

  @Test func framesAsASequence() async throws {
    try await withTracks { _, video, _ in
      var times: [Int64] = []
      for await frame in video.frames() {
        #expect(frame.dimensions == Dimensions(width: 640, height: 360))
        if times.isEmpty { #expect(try frame.jpegData().starts(with: [0xff, 0xd8, 0xff])) }
        times.append(frame.timeStampNs)
        if times.count == 10 { break }
      }
      #expect(times == times.sorted() && Set(times).count == 10)
      // A track keeps its newest frame as long as somebody watches.
      try await eventually("the end of decoding") { video.videoFrame == nil }
    }
  }

  @Test func aCancelledTaskStopsWatching() async throws {
    try await withTracks { _, video, _ in
      let count = Locked(0)
      let task = Task {
        for await _ in video.frames() { count.withLock { $0 += 1 } }
      }
      try await eventually("frames") { count.withLock { $0 } > 3 }
      #expect(video.videoFrame != nil)
      task.cancel()
      await task.value
      try await eventually("the end of decoding") { video.videoFrame == nil }
    }
  }

  @Test func aSlowLoopMissesTheOldest() async throws {
    try await withTracks { _, video, _ in
      let counter = Locked<[Int64]>([])
      let all = VideoFrameHandler { frame in counter.withLock { $0.append(frame.timeStampNs) } }
      var iterator = video.frames(bufferingNewest: 2).makeAsyncIterator()
      video.add(videoRenderer: all)
      try await eventually("many frames") { counter.withLock { $0.count } > 20 }
      let first = try #require(await iterator.next()).timeStampNs
      let seen = counter.withLock { $0 }
      #expect(try #require(seen.firstIndex(of: first)) > 15)
      video.remove(videoRenderer: all)
    }
  }

  @Test func sequencesEndWithTheirTrack() async throws {
    let ended = Locked(0)
    var tasks: [Task<Void, Never>] = []
    var kept: RemoteVideoTrack?
    try await withTracks { _, video, audio in
      kept = video
      let (frames, audio) = (video.frames(), audio.pcmBuffers())
      tasks = [
        Task {
          for await _ in frames {}
          ended.withLock { $0 += 1 }
        },
        Task {
          for await _ in audio {}
          ended.withLock { $0 += 1 }
        },
      ]
      try await eventually("frames") { video.videoFrame != nil }
    }
    defer { for task in tasks { task.cancel() } }
    try await eventually("the end of both", within: .seconds(5)) { ended.withLock { $0 } == 2 }
    // There is nothing more to come.
    for await _ in try #require(kept).frames() { Issue.record("a frame of a track that has ended") }
  }

  @Test func audioIsHeardAsItIsAskedFor() async throws {
    try await withTracks { _, _, audio in
      let loud = AudioBufferHandler(format: AVAudioFormat(standardFormatWithSampleRate: 44_100, channels: 1)) {
        buffer in
        #expect(buffer.format.sampleRate == 44_100 && buffer.format.channelCount == 1)
      }
      audio.add(audioRenderer: loud)
      let format = try #require(
        AudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 16_000, channels: 1, interleaved: true))
      var samples: [Int16] = []
      var times: [MediaTime] = []
      for await buffer in audio.pcmBuffers(format: format) {
        #expect(buffer.format == format)
        let channel = try #require(buffer.int16ChannelData)[0]
        samples += UnsafeBufferPointer(start: channel, count: Int(buffer.frameLength))
        times.append(buffer.time)
        if samples.count >= 16_000 { break }
      }
      audio.remove(audioRenderer: loud)
      #expect(times == times.sorted())
      // A tone of 440 Hz at 0.3 of the full level.
      let settled = samples.dropFirst(3200)
      let crossings = zip(settled, settled.dropFirst()).count { $0 < 0 && $1 >= 0 }
      #expect(abs(Double(crossings) / Double(settled.count) * 16_000 - 440) < 5)
      let square = settled.reduce(0.0) { $0 + pow(Double($1) / 32_768, 2) } / Double(settled.count)
      #expect(abs(square.squareRoot() - 0.3 / 2.0.squareRoot()) < 0.02)
    }
  }
}
