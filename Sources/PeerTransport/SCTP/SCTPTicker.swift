import MediaCore

/// Drives usrsctp's timers while an association lasts, seldom once nothing has passed for a while. Lives on its loop.
final class SCTPTicker {
  private let loop: TransportLoop
  private var timer: LoopTimer?
  private var lastPacket = MediaTime.now
  private var isQuiet = false

  init(loop: TransportLoop) { self.loop = loop }

  func start() {
    let bound = LoopBound(Weak(self), on: loop)
    isQuiet = MediaTime.now - lastPacket > SCTPStack.quietAfter
    timer = loop.after(isQuiet ? SCTPStack.quietInterval : SCTPStack.tickInterval) {
      guard let ticker = bound.value.object, ticker.timer != nil else { return }
      SCTPStack.tick()
      ticker.start()
    }
  }

  /// Something passes, in whichever direction.
  func notePacket() {
    lastPacket = .now
    guard isQuiet, timer != nil else { return }
    timer?.cancel()
    start()
  }

  func stop() {
    timer?.cancel()
    timer = nil
  }
}
