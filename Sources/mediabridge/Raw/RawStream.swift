import Egress
import MediaBridge
import MediaCore

/// What is made of tracks for one reader.
protocol RawStream: AnyObject, Sendable {
  /// Where it goes.
  var output: any RawReceiver { get }
  /// From now on it takes what comes of this track.
  func attach(_ publication: RemoteTrackPublication, of participant: RemoteParticipant)
  /// It takes nothing of this one any more.
  func detach(_ publication: RemoteTrackPublication)
  func setMuted(_ isMuted: Bool, _ publication: RemoteTrackPublication)
  /// Called several times a second.
  func tick()
  /// Takes nothing more of anybody.
  func stop()
  /// Whether all is there that was asked for.
  var isDone: Bool { get }
  /// Whether something has come.
  var hasBegun: Bool { get }
  /// Why nothing goes to the reader any more.
  var failure: LiveKitError? { get }
  var report: RawReport { get }
}

extension RawStream {
  /// For people.
  var name: String { output.name }

  /// At the end of all: the reader gets what waits for it.
  func finish() async {
    stop()
    await output.finish(within: .seconds(2))
  }

  /// Whose media it is has left. A reader that others write to, too, goes on.
  func leave() async {
    if output.isShared { stop() } else { await finish() }
  }
}

/// Whose media a stream has, as `--info` and framed pipes tell it.
struct RawSource: Sendable {
  var publication: RemoteTrackPublication
  var identity: String

  init(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) {
    (self.publication, identity) = (publication, participant.identity ?? participant.sid)
  }

  /// Says whose media follows, to those who read `--info` and, where several streams share a pipe, there.
  /// - Parameters:
  ///   - number: of the stream.
  ///   - start: when its time 0 is; nil before its first frame.
  ///   - isMixed: whether others of its participant may be in that stream, too.
  func tell(
    _ number: Int, start: MediaTime?, info: InfoLog?, _ framing: RawFraming?, _ output: any RawReceiver,
    isMixed: Bool = false
  ) {
    var fields: InfoFields = [
      "track": number, "participant": identity, "sid": publication.sid, "source": publication.source.optionName,
      "muted": publication.isMuted,
    ]
    if let start { fields["start"] = start.seconds }
    info?.tell("track", fields)
    guard let framing else { return }
    let bytes = framing.framed(Array(InfoLog.line(fields).utf8), as: RawFraming.track, 0, 0, at: .zero)
    let subject = "\(number) \(identity)\(isMixed ? " \(publication.source.optionName)" : "")"
    output.put(RawPiece(.bytes(bytes), made: .now, subject: subject))
  }
}

extension MediaTime {
  /// As other programs read the machine's monotonic clock.
  var seconds: Double { Double(nanoseconds) / 1e9 }
}

/// What has gone to a reader.
struct RawReport: Sendable {
  var name: String
  var written: Int
  /// What waited for too long to be taken.
  var dropped: Int
  /// What this machine was too slow for.
  var passedOver: Int
  /// What came when its place was filled already.
  var late = 0
  /// Seconds.
  var duration: Double
  var size: String?
  /// Who was too slow for what is dropped.
  var taker: String
  /// Of what is to hold all; nil where it is enough to count.
  var loss: RawLoss?

  /// Why not all is there that was to be.
  var lack: LiveKitError? { loss?.failure(of: name) }

  /// - Parameter unit: of what was written, such as frames.
  func tell(_ console: Console, _ unit: String) {
    let lost = dropped > 0 ? ", \(dropped) dropped because the \(taker) was too slow" : ""
    let unmade = passedOver > 0 ? ", \(passedOver) dropped because this machine was too slow" : ""
    let behind = late > 0 ? ", \(late) came too late" : ""
    let size = size.map { " of \($0)" } ?? ""
    console.say("\(name): \(written) \(unit)\(size)\(lost)\(unmade)\(behind)")
    console.event(
      "finished",
      [
        "destination": name, "written": written, "dropped": dropped + passedOver, "late": late,
        "duration": duration, "size": self.size ?? "",
      ])
  }
}
