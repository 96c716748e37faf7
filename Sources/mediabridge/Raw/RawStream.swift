import MediaBridge
import MediaCore

/// What is made of tracks for one reader.
protocol RawStream: AnyObject, Sendable {
  /// For people.
  var name: String { get }
  /// From now on it takes what comes of this track.
  func attach(_ publication: RemoteTrackPublication, of participant: RemoteParticipant)
  /// It takes nothing of this one any more.
  func detach(_ publication: RemoteTrackPublication)
  func setMuted(_ isMuted: Bool, _ publication: RemoteTrackPublication)
  /// Called every 100 ms or so.
  func tick()
  func finish() async
  /// Whether all is there that was asked for.
  var isDone: Bool { get }
  /// Whether something has come.
  var hasBegun: Bool { get }
  /// Why nothing goes to the reader any more.
  var failure: LiveKitError? { get }
  var report: RawReport { get }
}

extension RawStream {
  /// Says whose media follows, to those who read `--info` and, where several streams share a pipe, there.
  func tell(
    track publication: RemoteTrackPublication, of identity: String, _ number: Int, info: InfoLog?,
    _ framing: RawFraming?, _ output: any RawReceiver
  ) {
    let fields: InfoFields = [
      "track": number, "participant": identity, "sid": publication.sid, "source": publication.source.optionName,
      "muted": publication.isMuted,
    ]
    info?.tell("track", fields)
    guard let framing else { return }
    let text = InfoLog.line(fields)
    output.put(
      RawPiece(
        .bytes(framing.framed(Array(text.utf8), as: RawFraming.track, 0, 0, at: .zero)), made: .now, isNeeded: true))
  }
}

/// What has gone to a reader.
struct RawReport: Sendable {
  var name: String
  var written: Int
  var dropped: Int
  /// Seconds.
  var duration: Double
  var size: String?

  /// - Parameter unit: of what was written, such as frames.
  func tell(_ console: Console, _ unit: String) {
    let lost = dropped > 0 ? ", \(dropped) dropped because the reader was too slow" : ""
    let size = size.map { " of \($0)" } ?? ""
    console.say("\(name): \(written) \(unit)\(size)\(lost)")
    console.event(
      "finished",
      [
        "destination": name, "written": written, "dropped": dropped, "duration": duration, "size": self.size ?? "",
      ])
  }
}
