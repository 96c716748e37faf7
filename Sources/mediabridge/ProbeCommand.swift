import ArgumentParser
import Foundation
import MediaBridge
import MediaCore

struct FramesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "frames", abstract: "Decode a participant's video and count its frames.",
    usage: "mediabridge frames [<options>]")

  @OptionGroup var access: RoomArguments
  @Option(help: "Identity of the participant; without it everyone's video") var participant: String?
  @Option(help: "How long, such as 10s; without it until Ctrl-C", transform: duration(of:)) var duration: Duration?
  @Flag(help: "Decode the sound, too") var sound = false
  @Option(
    help: ArgumentHelp(
      "Layer of simulcast tracks: low, medium or high; of several, separated by commas, one after the other",
      valueName: "quality"), transform: qualities(of:))
  var quality: [VideoQuality] = []
  @Option(help: "How long each of several qualities is asked for, such as 0.5s", transform: duration(of:))
  var each = Duration.seconds(2)
  @Option(
    help: ArgumentHelp("Receive pictures for this size, such as 320x180, and not the largest", valueName: "WxH"),
    transform: size(of:))
  var size: Dimensions?
  @Flag(help: .init("Tell how late the pictures of Tests/Bench are", visibility: .hidden)) var clockCode = false

  func validate() throws {
    guard size == nil || quality.isEmpty else {
      throw ValidationError("--size chooses the quality: give one of the two")
    }
  }

  func run() async throws {
    let console = access.console()
    let tour = QualityTour(qualities: quality, each: each, console: console)
    let (url, token) = (try access.serverURL(), try await access.accessToken())
    let room = Room(roomOptions: try access.roomOptions(autoSubscribe: false, adaptiveStream: size != nil))
    let counter = FrameCounter(participant: participant, withSound: sound, shownAt: size, readsClock: clockCode)
    room.add(delegate: counter)
    room.add(delegate: tour)
    let begun = ContinuousClock.now
    console.tellLosses(of: room)
    do { try await room.connect(url: url, token: token, connectOptions: access.connectOptions) } catch {
      console.fail(error)
      throw ExitCode.failure
    }
    await count(counter, of: room, console)
    let (summary, lost) = (counter.summary, room.disconnectError)
    await room.disconnect()
    let first = summary.first.map { Format.seconds($0 - begun) * 1000 }
    if clockCode { console.event("clock", ["frames": summary.clock, "unreadable": summary.unreadable]) }
    console.say("\(summary.frames) frames, the first after \(first.map { "\(Int($0)) ms" } ?? "never")")
    console.event(
      "finished", ["frames": summary.frames, "first_frame_ms": first ?? -1, "sound_frames": summary.soundFrames])
    if let lost {
      console.fail(LiveKitError(lost.code, "\(lost.message) (after \(summary.frames) frames)"))
      throw ExitCode.failure
    }
  }

  /// Shows every second how many there were, until the time is over, the connection is lost, or Ctrl-C.
  private func count(_ counter: FrameCounter, of room: Room, _ console: Console) async {
    let interruption = Interruption()
    let deadline = duration.map { ContinuousClock.now + $0 }
    while deadline.map({ ContinuousClock.now < $0 }) ?? true {
      let rest = deadline.map { $0 - ContinuousClock.now } ?? .seconds(1)
      if await interruption.came(within: min(.seconds(1), rest)) { break }
      let summary = counter.summary
      console.live("\(summary.frames) frames")
      console.event(
        "progress",
        [
          "frames": summary.frames, "size": summary.size?.description ?? "", "rotation": summary.rotation.rawValue,
          "sound_frames": summary.soundFrames,
        ])
      if room.disconnectError != nil { break }
    }
  }
}

/// Subscribes to what it counts, and to nothing else.
final class FrameCounter: RoomDelegate, Sendable {
  struct Summary {
    var frames = 0
    var first: ContinuousClock.Instant?
    /// Of the newest picture.
    var size: Dimensions?
    var rotation = VideoRotation._0
    /// Samples of one channel.
    var soundFrames = 0
    /// Of each picture whose code could be read: its number, the moments of capture and of rendering and its timestamp in
    /// microseconds, and its height.
    var clock: [[Int64]] = []
    var unreadable = 0
  }

  private let participant: String?
  private let withSound: Bool
  private let shownSize: Dimensions?
  private let readsClock: Bool
  private let state = Locked(Summary())

  /// - Parameter shownAt: the size in which pictures are shown; nil for their own.
  init(participant: String?, withSound: Bool, shownAt shownSize: Dimensions?, readsClock: Bool) {
    self.participant = participant
    self.withSound = withSound
    self.shownSize = shownSize
    self.readsClock = readsClock
  }

  var summary: Summary { state.withLock { $0 } }

  func room(_ room: Room, participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication) {
    guard self.participant.map({ $0 == participant.identity }) ?? true, withSound || publication.kind == .video else {
      return
    }
    // Without a connection there is nothing to count, which `connect` or the end of the room tells.
    Task { try? await publication.set(subscribed: true) }
  }

  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    switch publication.track {
    case let track as RemoteVideoTrack: track.add(videoRenderer: CountedScreen(size: shownSize) { [self] in count($0) })
    case let track as RemoteAudioTrack:
      track.add(
        audioRenderer: AudioBufferHandler { [state] buffer in
          state.withLock { $0.soundFrames += Int(buffer.frameLength) }
        })
    default: break
    }
  }

  private func count(_ frame: VideoFrame) {
    let rendered = monotonicMicroseconds()
    let code = readsClock ? ClockCode(frame) : nil
    state.withLock { summary in
      if summary.first == nil { summary.first = .now }
      summary.frames += 1
      summary.size = frame.dimensions
      summary.rotation = frame.rotation
      if readsClock { summary.note(frame, code, rendered: rendered) }
    }
  }
}

/// Shows pictures at a size of its own, or at theirs. Counting takes no time.
private final class CountedScreen: VideoRenderer, PromptRenderer, Sendable {
  private let size: Dimensions?
  private let onFrame: @Sendable (VideoFrame) -> Void

  init(size: Dimensions?, onFrame: @escaping @Sendable (VideoFrame) -> Void) {
    self.size = size
    self.onFrame = onFrame
  }

  @MainActor var isAdaptiveStreamEnabled: Bool { size != nil }
  @MainActor var adaptiveStreamSize: CGSize {
    size.map { CGSize(width: Int($0.width), height: Int($0.height)) } ?? .zero
  }
  func render(frame: VideoFrame) { onFrame(frame) }
}

/// CLOCK_MONOTONIC, as the clock code's.
func monotonicMicroseconds() -> Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1000) }

extension FrameCounter.Summary {
  fileprivate mutating func note(_ frame: VideoFrame, _ code: ClockCode?, rendered: Int64) {
    guard let code else {
      unreadable += 1
      return
    }
    clock.append([
      Int64(code.number), Int64(code.microseconds), rendered, frame.timeStampNs / 1000, Int64(frame.dimensions.height),
    ])
  }
}
