import LiveKitProtocol
import MediaCore
import PeerTransport

// The connection on which we send, where it is not the primary one: without tracks what is received goes on, whatever becomes
// of it.
extension SessionState {
  enum PublisherLoss: Sendable {
    /// ICE looks for another way, until that time.
    case restarting(PeerError, until: MediaTime)
    case failed(PeerError, at: MediaTime)
  }

  mutating func publisherChanged(_ state: PeerState, at now: MediaTime) {
    switch state {
    case .disconnected(let error): link.publisherLoss = .restarting(error, until: now + Self.restartLimit)
    case .failed(let error): publisherFailed(error, at: now)
    case .connected: (link.publisherLoss, publisherFailures) = (nil, 0)
    case .new, .connecting, .closed: link.publisherLoss = nil
    }
  }

  private mutating func publisherFailed(_ error: PeerError, at now: MediaTime) {
    publisherFailures += 1
    link.publisherLoss = .failed(error, at: now)
    if !link.published.isEmpty { mediaFailed(error, at: now) }
  }

  mutating func published(_ tracks: [Livekit_TrackPublishedResponse]) {
    link.published = tracks
    if !tracks.isEmpty { publisherNeeded(forTrack: true) }
  }

  /// One that has failed while nothing was published comes with another session. Where that one's has failed as well, a
  /// message is not worth a third session, for which all that is received is interrupted.
  mutating func publisherNeeded(forTrack isForTrack: Bool) {
    guard case .failed(let error, let time) = link.publisherLoss, !isRecovering else { return }
    guard isForTrack || publisherFailures < 2 else { return }
    mediaFailed(error, at: time)
  }

  /// A restart counts from when the server can hear of it; what failed meanwhile, beside another loss, is news now.
  mutating func publisherReturns(at now: MediaTime) {
    if case .restarting(let error, _) = link.publisherLoss {
      link.publisherLoss = .restarting(error, until: now + Self.restartLimit)
    }
    if !link.published.isEmpty { publisherNeeded(forTrack: true) }
  }

  /// When the restart has brought nothing; a resume, which begins it anew, is waited for.
  var publisherDeadline: MediaTime? {
    guard !isRecovering, case .restarting(_, let until) = link.publisherLoss else { return nil }
    return until
  }

  mutating func pollPublisher(at now: MediaTime) {
    guard let deadline = publisherDeadline, deadline <= now, case .restarting(let error, _) = link.publisherLoss
    else { return }
    publisherFailed(error, at: now)
  }
}
