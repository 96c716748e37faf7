import ArgumentParser
import Foundation
import MediaBridge

struct FramesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "frames", abstract: "Decode a participant's video and count its frames.",
    usage: "mediabridge frames [<options>]")

  @OptionGroup var access: RoomArguments
  @Option(help: "Identity of the participant; without it everyone's video") var participant: String?
  @Option(help: "How long, such as 10s; without it until Ctrl-C", transform: duration(of:)) var duration: Duration?

  func run() async throws {
    let console = access.console()
    let (url, token) = (try access.serverURL(), try await access.accessToken())
    let room = Room(roomOptions: try access.roomOptions())
    let counter = FrameCounter(participant: participant)
    room.add(delegate: counter)
    let begun = ContinuousClock.now
    do { try await room.connect(url: url, token: token) } catch {
      console.fail(error)
      throw ExitCode.failure
    }
    let interruption = Interruption()
    let deadline = duration.map { ContinuousClock.now + $0 }
    while deadline.map({ ContinuousClock.now < $0 }) ?? true {
      let rest = deadline.map { $0 - ContinuousClock.now } ?? .seconds(1)
      if await interruption.came(within: min(.seconds(1), rest)) { break }
      console.live("\(counter.summary.frames) frames")
      if let lost = room.disconnectError {
        console.fail(LiveKitError(lost.code, "\(lost.message) (after \(counter.summary.frames) frames)"))
        throw ExitCode.failure
      }
    }
    let summary = counter.summary
    await room.disconnect()
    let first = summary.first.map { Format.seconds($0 - begun) * 1000 }
    console.say("\(summary.frames) frames, the first after \(first.map { "\(Int($0)) ms" } ?? "never")")
    console.event("finished", ["frames": summary.frames, "first_frame_ms": first ?? -1])
  }
}

/// Counts every picture of the tracks it is told of.
final class FrameCounter: RoomDelegate, Sendable {
  private struct State {
    var frames = 0
    var first: ContinuousClock.Instant?
  }

  private let participant: String?
  private let state = Guarded(State())

  init(participant: String?) { self.participant = participant }

  var summary: (frames: Int, first: ContinuousClock.Instant?) { state.read { ($0.frames, $0.first) } }

  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    guard self.participant.map({ $0 == participant.identity }) ?? true,
      let track = publication.track as? RemoteVideoTrack
    else { return }
    track.add(
      videoRenderer: VideoFrameHandler { [state] _ in
        state.change { state in
          if state.first == nil { state.first = .now }
          state.frames += 1
        }
      })
  }
}
