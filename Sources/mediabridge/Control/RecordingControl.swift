import Egress
import Foundation
import MediaBridge
import MediaCore
import PipelineTemplates

/// Does what is asked of a recording while it runs, line by line, and answers each line.
struct RecordingControl: Sendable {
  let console: Console
  let source: any EgressJob
  let interruption: Interruption
  /// How lines of standard input are written; nil leaves that alone.
  let form: ControlRequest.Form?
  /// Where the recording goes, for what is told of it.
  let destinations: Locked<[Destination]>
  /// Whether it was asked to end.
  let isEnding = Locked(false)
  private let signals = Signal.arrivals(of: SIGUSR1)

  init(
    console: Console, source: any EgressJob, interruption: Interruption, form: ControlRequest.Form?,
    destinations: Locked<[Destination]>
  ) {
    (self.console, self.source, self.interruption) = (console, source, interruption)
    (self.form, self.destinations) = (form, destinations)
  }

  /// Returns when its task is cancelled, or nothing can be asked any more.
  func run() async {
    await withTaskGroup { group in
      group.addTask { for await _ in signals { await heedSignal() } }
      guard form != nil else { return }
      for await line in StandardInput.lines() where !line.allSatisfy(\.isWhitespace) { await answer(line) }
    }
  }

  /// Pauses, or goes on.
  private func heedSignal() async {
    let request = ControlRequest.switchPause
    do throws(LiveKitError) {
      _ = try await perform(request)
      console.event("control", ["command": request.name, "done": true])
    } catch { console.tell(refusalOf: request.name, error) }
  }

  private func answer(_ line: String) async {
    var fields: [String: Any] = [:]
    do throws(LiveKitError) {
      let request = try request(line, &fields)
      fields["command"] = request.name
      if let done = try await perform(request) { console.say(done) }
      fields["done"] = true
    } catch {
      console.say("Not done: \(error.message)")
      fields.merge(["done": false, "message": error.message, "code": error.code.rawValue]) { $1 }
    }
    console.event("control", fields)
  }

  /// - Parameter fields: gets what the answer is known by.
  private func request(_ line: String, _ fields: inout [String: Any]) throws(LiveKitError) -> ControlRequest {
    guard form == .json else { return try ControlRequest(words: line) }
    guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
      throw LiveKitError(.invalidParameter, "that is no JSON object on one line")
    }
    fields["id"] = object["id"]
    return try ControlRequest(object)
  }

  /// - Returns: what was done, for people; nil where the recording tells it.
  func perform(_ request: ControlRequest) async throws(LiveKitError) -> String? {
    switch request {
    case .add(let output):
      let destination = Destination(location: output.location, output: output.output)
      try await source.add(output)
      destinations.withLock { $0.append(destination) }
      return "\(destination.shown): it begins with the next keyframe."
    case .remove(let location):
      return "\(try await source.remove(location).location): it has ended, and the others go on."
    case .layout(let layout): try await source.set(layout: layout)
    case .label(let label):
      try await source.set(label: label)
      return label.text.isEmpty ? "The label is gone." : "The label is shown."
    case .pause: try await source.pause()
    case .resume: try await source.resume()
    case .switchPause: try await source.progress().isPaused ? source.resume() : source.pause()
    case .end:
      isEnding.withLock { $0 = true }
      interruption.end()
      return "The recording ends."
    }
    return nil
  }
}

extension Console {
  /// Says what of a recording that runs could not be changed; it goes on as it was.
  func tell(refusalOf command: String, _ error: LiveKitError) {
    say("Not done: \(error.message)")
    event("control", ["command": command, "done": false, "message": error.message, "code": error.code.rawValue])
  }
}
