import ArgumentParser
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore

/// A program's own frames through a `BufferCapturer`, for Tests/Bench: each bears the moment at which it was taken.
struct PublishFramesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish-frames", abstract: "Publish raw frames over and over, each with the time burned in.",
    shouldDisplay: false)

  @Argument(help: "File of I420 frames, one right behind the other") var file: String
  @OptionGroup var access: RoomArguments
  @Option(help: "Of the frames", transform: size(of:)) var size = Dimensions(width: 1280, height: 720)
  @Option(help: "Frames a second") var fps = 25
  @Option(help: "vp8, vp9, h264 or av1") var codec = "vp8"
  @Option(help: "Bits a second of the largest layer") var bitrate = 2_500_000
  @Flag(help: "Send that layer only") var singleLayer = false
  @Option(help: "How long; without it until Ctrl-C", transform: duration(of:)) var duration: Duration?

  func validate() throws {
    try access.checkAccess()
    guard size.width % 40 == 0, size.height % 2 == 0 else {
      throw ValidationError("--size \(size): the width has to be a multiple of 40, and the height of 2")
    }
    try PublishedCodec.check(codec)
    guard (1...120).contains(fps) else { throw ValidationError("--fps \(fps): give 1 to 120") }
  }

  func run() async throws {
    let console = access.console()
    let room = Room(roomOptions: access.roomOptions(autoSubscribe: false))
    do {
      let (frames, interruption) = (try frames(), Interruption())
      let (url, token) = (try access.serverURL(), try access.accessToken(grant: VideoGrant.publisher))
      try await console.join(url, interruption) {
        try await room.connect(url: url, token: token, connectOptions: access.connectOptions)
      }
      let track = LocalVideoTrack.createBufferTrack(source: .camera)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await show(frames, on: track) }
        // Its size is that of the first frame.
        try await room.localParticipant.publish(
          videoTrack: track,
          options: VideoPublishOptions(
            encoding: VideoEncoding(maxBitrate: bitrate, maxFps: fps), simulcast: !singleLayer,
            preferredCodec: VideoCodec(rawValue: codec) ?? .vp8))
        console.event("published")
        await interruption.wait(atMost: duration)
        group.cancelAll()
      }
      await room.disconnect()
    } catch {
      await room.disconnect()
      console.fail(error)
      throw ExitCode.failure
    }
  }

  private func frames() throws -> [[UInt8]] {
    let data = try contents()
    let length = Int(size.width) * Int(size.height) * 3 / 2
    let frames = stride(from: 0, through: data.count - length, by: length).map { Array(data[$0..<$0 + length]) }
    guard !frames.isEmpty else { throw ValidationError("\(file) has no frame of \(size)") }
    return frames
  }

  private func contents() throws(LiveKitError) -> Data {
    do { return try Data(contentsOf: URL(fileURLWithPath: file), options: .alwaysMapped) } catch {
      throw LiveKitError(.invalidParameter, "\(file): \(error.systemReason)", underlying: error)
    }
  }

  private func show(_ frames: [[UInt8]], on track: LocalVideoTrack) async throws {
    let (width, height) = (Int(size.width), Int(size.height))
    var (frames, due) = (frames, ContinuousClock.now)
    for number in 0... {
      do { try await Task.sleep(until: due, tolerance: .zero) } catch { return }
      let (index, time) = (number % frames.count, MediaTime.now)
      ClockCode(microseconds: UInt64(time.nanoseconds / 1000), number: UInt16(truncatingIfNeeded: number))
        .burn(into: &frames[index], width: width)
      guard let frame = VideoFrame(i420: frames[index], width: width, height: height, time: time) else { return }
      track.capturer?.capture(frame)
      due += .seconds(1) / fps
    }
  }
}
