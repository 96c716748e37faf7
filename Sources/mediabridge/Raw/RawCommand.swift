import ArgumentParser
import MediaBridge

/// `frames` and `pcm`, alone or as a job of `run`.
protocol RawCommand: AsyncParsableCommand, Sendable {
  var raw: RawArguments { get set }
  /// For people: what is handed on.
  var product: String { get }

  /// Opens where it goes. Nothing else happens before the work is called, which is to be done once.
  /// - Parameter media: standard output, where that carries the media.
  func work(in room: Room, _ console: Console, _ media: Int32?) throws -> RawWork
}

extension RawCommand {
  /// - Throws: what is wrong with it.
  func check() throws {
    var command = self
    try command.validate()
  }
}
