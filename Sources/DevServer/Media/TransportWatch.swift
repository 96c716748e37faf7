import MediaCore
import PeerTransport

/// Cuts the signalling of a client whose connection of media is gone, as LiveKit's server does: who is there comes back,
/// and who is not counts as gone. Lives on the server's loop.
final class TransportWatch {
  /// In which a client finds another way by itself, or says that it leaves.
  private static let patience = Duration.seconds(10)

  private unowned let participant: DevParticipant
  private let loop: TransportLoop
  private var timer: LoopTimer?
  /// Whether nothing comes of it any more, so that a session cannot go on with it.
  private(set) var hasFailed = false

  init(participant: DevParticipant, loop: TransportLoop) { (self.participant, self.loop) = (participant, loop) }

  func changed(_ state: PeerState) {
    switch state {
    case .disconnected: wait()
    case .failed:
      hasFailed = true
      wait()
    case .connected, .closed: end()
    case .new, .connecting: break
    }
  }

  func end() {
    timer?.cancel()
    timer = nil
  }

  private func wait() {
    timer?.cancel()
    let (bound, socket) = (LoopBound(Weak(self), on: loop), participant.socket)
    timer = loop.after(Self.patience) { bound.value.object?.isOver(for: socket) }
  }

  private func isOver(for socket: ClientSocket) {
    // Who has come back meanwhile looks for another way.
    if participant.socket === socket { socket.cut() }
    wait()
  }
}
