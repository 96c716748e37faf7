import ArgumentParser
import Foundation
import MediaBridge

/// Asks for one layer after the other, of each track on its own, from its subscription on.
final class QualityTour: RoomDelegate, Sendable {
  private let qualities: [VideoQuality]
  private let each: Duration
  private let console: Console

  init(qualities: [VideoQuality], each: Duration, console: Console) {
    self.qualities = qualities
    self.each = each
    self.console = console
  }

  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    guard publication.kind == .video else { return }
    Task { await travel(publication) }
  }

  /// Ends early when the track does.
  private func travel(_ publication: RemoteTrackPublication) async {
    for (index, quality) in qualities.enumerated() {
      if index > 0 { try? await Task.sleep(for: each) }
      let asked = monotonicMicroseconds()
      do { try await publication.set(videoQuality: quality) } catch { return }
      console.event("quality", ["sid": publication.sid, "quality": "\(quality)", "time": asked])
    }
  }
}

/// `low,high`: the transform of an option that takes layers.
func qualities(of text: String) throws -> [VideoQuality] {
  try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
    guard let quality = [VideoQuality.low, .medium, .high].first(where: { "\($0)" == name }) else {
      throw ValidationError("'\(name)' is no quality; write low, medium or high")
    }
    return quality
  }
}
