import Egress
import Foundation
import MediaBridge
import MediaCore
import MediaPipelines

/// A process of `run`: its jobs until they have ended or are interrupted, and its file as it changes.
struct RunWatcher {
  let file: String
  let console: Console
  private let session: RunSession
  private let interruption = Interruption(signals: [SIGINT, SIGTERM])
  private let hasTerminal = isatty(STDIN_FILENO) == 1

  /// - Parameter media: standard output, where that carries the media of a job.
  init(file: String, console: Console, media: Int32?) {
    (self.file, self.console) = (file, console)
    session = RunSession(console: console, media: media)
  }

  /// - Returns: whether all jobs did what they were asked to.
  func run(_ configuration: RunConfiguration) async -> Bool {
    draw(configuration)
    var files = [file] + configuration.files
    var watch = FileWatch(files)
    let isHungUp = Locked(false)
    let arrivals = Signal.arrivals(of: SIGHUP)
    let hangups = Task { for await _ in arrivals { isHungUp.withLock { $0 = true } } }
    defer { hangups.cancel() }
    // Heeded also while a change is applied, which waits for destinations that end: a disk may be slow.
    let ending = Task { [interruption, session] in
      await interruption.wait(atMost: nil)
      if interruption.hasCome { await session.end() }
    }
    defer { ending.cancel() }
    await session.apply(configuration)
    while await !session.isOver, await !interruption.came(within: .milliseconds(200)) {
      let isAsked = isHungUp.withLock { asked in
        defer { asked = false }
        return asked
      }
      if isAsked && hasLostTerminal {
        await session.end()
        break
      }
      // Looked at in any case, so that it is not read twice.
      if watch.hasChanged({ files }) || isAsked, let next = await readAgain() {
        let known = files
        files = [file] + next.files
        if files != known { watch.settle(files) }
      }
    }
    await session.wait()
    do { try Drawings.check() } catch {
      console.fail(error)
      return false
    }
    return await session.isWhole
  }

  /// Whether the one on which it was begun is closed, unless it was begun to outlive that.
  private var hasLostTerminal: Bool { hasTerminal && isatty(STDIN_FILENO) == 0 && !Interruption.outlivesTerminal }

  private func draw(_ configuration: RunConfiguration) {
    guard let dot = configuration.dot else { return Drawings.end() }
    // The jobs go on without.
    do throws(LiveKitError) { try Drawings.begin(asked: dot) } catch { tell(mistake: error) }
  }

  /// Of the whole file.
  private func tell(mistake error: any Error) {
    console.tell(RunFile.Mistakes(all: [YAMLMistake(file, nil, "\(error)")]))
  }

  /// - Returns: what is asked for now; nil where it is not taken over.
  private func readAgain() async -> RunConfiguration? {
    do {
      let configuration = try RunFile.read(file)
      draw(configuration)
      await session.apply(configuration) { difference in
        console.say("\(file) is read again: \(difference.words)")
        console.event(
          "configuration",
          [
            "applied": true, "same": difference.same, "changed": difference.changed, "added": difference.added,
            "removed": difference.removed, "again": difference.again, "rejoined": difference.rejoined,
          ])
      }
      return configuration
    } catch {
      if let mistakes = error as? RunFile.Mistakes { console.tell(mistakes) } else { tell(mistake: error) }
      console.say("\(file) is not taken over: all goes on as it was.")
      console.event("configuration", ["applied": false])
      return nil
    }
  }
}

extension RunSession.Difference {
  /// For people.
  var words: String {
    let parts = [
      ("new", added), ("changed", changed), ("begun anew after a failure", again), ("ended", removed),
      ("the same", same),
    ]
    let lines = parts.filter { !$0.1.isEmpty }.map {
      "\($0.1.joined(separator: ", ")) \($0.1.count == 1 ? "is" : "are") \($0.0)"
    }
    return (lines + rejoined.map(Self.reason(ofRejoining:))).joined(separator: "; ")
  }

  private static func reason(ofRejoining room: String) -> String {
    "the room \(room) is joined anew for the right to send messages, and so all its jobs begin anew; without its "
      + "`identity` the others go on"
  }
}
