import Foundation
import MediaBridge
import MediaCore

/// What is missing in a destination because it was not taken as fast as it came: a disk stalled for longer than its
/// queue lasts, what reads a pipe, or encodes in the template, did not keep up, or a live server, or the way to it, did
/// not.
public struct MediaLoss: Sendable, Equatable {
  /// How much was written, or sent, when something was dropped first.
  public var since: Duration
  /// How much of the video is missing.
  public var video: Duration
  /// How much of the audio is; of several tracks of it, of the one that lacks most.
  public var audio: Duration
  /// Whether more of it goes missing; of a live stream also when something did within the last minute.
  public var goesOn: Bool

  /// Such as "34.0 s of video and 30.2 s of audio".
  package var amount: String {
    [(video, "video"), (audio, "audio")].filter { $0.0 > .zero }
      .map { String(format: "%.1f", max($0.0.seconds, 0.1)) + " s of \($0.1)" }.joined(separator: " and ")
  }

  /// What is told of it when it changes; how much it is grows all the time.
  package struct News: Sendable, Equatable {
    let hasVideo: Bool
    let hasAudio: Bool
    let goesOn: Bool
  }
  package var news: News { News(hasVideo: video > .zero, hasAudio: audio > .zero, goesOn: goesOn) }
}

extension MediaLoss {
  /// - Parameters:
  ///   - losses: of each input.
  ///   - beginning: of the destination, in the job.
  ///   - calm: how long nothing is dropped once no more of it goes missing.
  /// - Returns: nil where nothing is missing.
  init?(_ losses: [(kind: Track.Kind, loss: QueueLoss)], from beginning: Duration, calm: Duration = .zero) {
    guard let since = losses.compactMap({ $0.loss.since }).min() else { return nil }
    func length(_ kind: Track.Kind) -> Duration {
      losses.filter { $0.kind == kind }.map { $0.loss.length }.max() ?? .zero
    }
    self.init(
      since: max(since - beginning, .zero), video: length(.video), audio: length(.audio),
      goesOn: losses.contains { $0.loss.goesOn(within: calm) })
  }

  /// Why not all is in the files.
  var lack: LiveKitError {
    let first = String(format: "%.1f", since.seconds)
    return LiveKitError(
      .output,
      "it could not be written as fast as it came: \(amount) are missing, the first at \(first) s; its disk, or what "
        + "reads or encodes it, did not keep up")
  }
}
