import Foundation
import MediaBridge

/// Saves the first frame of everyone who shows one.
final class Photographer: RoomDelegate {
  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    guard let track = publication.track as? RemoteVideoTrack else { return }
    Task {
      for await frame in track.frames() {
        do {
          try frame.pngData().write(to: .temporaryDirectory.appending(path: "\(participant.sid).png"))
        } catch { print("\(participant.sid): \(error)") }
        return
      }
    }
  }

  func room(
    _ room: Room, participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: any Error
  ) {
    print("\(participant.identity ?? ""): \(error)")
  }
}
