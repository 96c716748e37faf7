import MediaBridge
import MediaCore

// Who has nothing to write, for want of a keyframe while nobody sends one: a sender or the way to it is away.
extension Job {
  /// Has destinations begin with black that have waited for a keyframe in vain, until the next one that is sent. Each
  /// does so on a line of its own: the others go on with what they show. Called again and again.
  func beginWithBlack(at now: MediaTime = .now) {
    guard !media.isPaused else { return }
    for destination in state.withLock({ $0.destinations }) where destination.hasWaited(at: now) {
      guard let shared = destination.lines[.video], media.canBlacken(shared),
        let own = ownLine(of: destination, besides: shared)
      else { continue }
      media.blackenAnew(own, isOwn: true)
    }
  }

  /// - Returns: nil where somebody else has another pipeline take over: the next look tries again.
  private func ownLine(of destination: JobDestination, besides shared: FeedLine) -> FeedLine? {
    guard !shared.isOnly(for: ObjectIdentifier(destination)) else { return shared }
    // Only encoders can be refused.
    let made = try? FeedLine(
      .video, .asSent, caps: nil, factory: destination.factory, onKeyframeNeeded: onKeyframeNeeded)
    guard let own = made else { return nil }
    media.fork(shared, to: own)
    state.withLock { $0.lines.append(own) }
    let isFed = destination.changeIfFree { destination -> Bool in
      destination.feed(videoFrom: own)
      return true
    }
    guard isFed == nil else { return own }
    dropIdleLines()
    return nil
  }
}

extension JobDestination {
  /// How long a sender has for a keyframe that it is asked for.
  private static let senderPatience = Duration.seconds(3)

  /// Whether nothing has been written for longer than that, since a stage waits; true once for each such time. A part
  /// that is due waits for longer: until it begins, the one before holds the frame.
  fileprivate func hasWaited(at now: MediaTime) -> Bool {
    let isIdle = writer.awaitsBeginning || writer.waiting != nil && writer.stage.isAbandoned
    let mayBegin = isIdle && lines[.video]?.form == .asSent && end == nil && failure == nil
    return keyframeWait.withLock { since in
      let start = mayBegin ? since ?? now : nil
      let isOver = start.map { now - $0 >= Self.senderPatience } ?? false
      since = isOver ? now : start
      return isOver
    }
  }

  /// Has a line of its own feed its video from the next keyframe on; until then the one before does.
  fileprivate func feed(videoFrom line: FeedLine) {
    lines.set(lines.all.merging([.video: line]) { $1 })
    writer.feed(lines.byInput)
    attach(line, .video)
    line.requestKeyframe()
  }
}
