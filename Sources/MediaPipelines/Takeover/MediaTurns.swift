package import GStreamerKit
package import MediaCore

/// What may wait until another pipeline takes over.
package protocol HeldMedia: Sendable {
  /// In bytes.
  var size: Int { get }
}

extension MediaBuffer: HeldMedia {}

/// What of two pipelines that make the same goes on, where one takes over from another: what the one before has made up to
/// a moment, then what the next one has from there on. What the next one brings earlier waits. Pure.
package struct MediaTurns<Media: HeldMedia>: Sendable {
  private struct Change {
    /// The number of the next one.
    var turn: Int
    var time: MediaTime
    /// What the next one has brought before the one before has come there.
    var held: [Media] = []
    /// Of all that is held.
    var size = 0
    /// How many of those have come since the one before brought something.
    var waited = 0
    /// Whether somebody hands that on.
    var isDraining = false
    var isOver = false

    mutating func hold(_ media: Media) {
      held.append(media)
      size += media.size
      waited += 1
    }

    var isLongEnough: Bool {
      waited >= MediaTurns.patience || held.count >= MediaTurns.most || size > MediaTurns.mostBytes
    }
  }

  /// How many of the next one are waited with for one before that brings nothing.
  private static var patience: Int { 30 }
  /// How many are held at most.
  private static var most: Int { 150 }
  /// The same in bytes, since decoded frames are large: a second of 1080p.
  private static var mostBytes: Int { 96_000_000 }

  /// The number of the one that goes on.
  package private(set) var current: Int
  private var change: Change?

  /// - Parameter current: the number of the one that goes on.
  package init(current: Int = 0) { self.current = current }

  /// Has another one take over.
  /// - Parameter time: from when on.
  package mutating func change(to turn: Int, at time: MediaTime) { change = Change(turn: turn, time: time) }

  /// Whether all that goes on is of the next one, which is the current one from here on.
  package mutating func settle() -> Bool {
    guard let done = change, done.isOver else { return false }
    (current, change) = (done.turn, nil)
    return true
  }

  package enum Verdict: Equatable {
    case pass
    case drop
    /// What waits is to be handed on, and then this, where it is of the next one: see `drain`.
    case drain
  }

  /// - Parameters:
  ///   - turn: the number of the one that brings it.
  ///   - time: when it is shown or heard.
  package mutating func take(_ media: Media, of turn: Int, at time: MediaTime) -> Verdict {
    guard let change else { return turn == current ? .pass : .drop }
    if turn == current {
      guard time >= change.time else {
        self.change?.waited = 0
        // What comes behind what stood in for it would be out of order.
        return change.isDraining ? .drop : .pass
      }
      return beginDraining() ? .drain : .drop
    }
    guard turn == change.turn, time >= change.time else { return .drop }
    if change.isOver { return .pass }
    self.change?.hold(media)
    return self.change?.isLongEnough == true && beginDraining() ? .drain : .drop
  }

  private mutating func beginDraining() -> Bool {
    guard change?.isDraining == false else { return false }
    change?.isDraining = true
    return true
  }

  /// For whoever was told to drain, until there is nothing more.
  /// - Returns: what is to be handed on before it is called again; nil once the next one goes on by itself.
  package mutating func drain() -> [Media]? {
    guard let held = change?.held, !held.isEmpty else {
      change?.isOver = true
      return nil
    }
    change?.held = []
    change?.size = 0
    return held
  }
}
