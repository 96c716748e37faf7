import Egress
import Foundation
import MediaBridge
import MediaCore
import PipelineTemplates

/// Makes what streams write to: a reader for each of them, or one for all.
final class RawDestinations: Sendable {
  private let raw: RawArguments
  /// Standard output, where that carries the media.
  private let media: Int32?
  private let limits: RawLimits
  /// What `--info` calls what is written.
  private let unit: String
  private let info: InfoLog?
  private let console: Console
  private let replies: Replies?
  private let reconnectFor: Duration
  private let pathSink: @Sendable (String) throws(LiveKitError) -> any RawSink
  private let shared = Locked<(any RawReceiver)?>(nil)
  private let names = Locked(ParticipantNames())

  /// - Parameters:
  ///   - replies: sends into the room what commands print.
  ///   - reconnectFor: how long a server may be away.
  ///   - pathSink: writes files, named pipes and folders.
  init(
    _ raw: RawArguments, _ media: Int32?, limits: RawLimits, unit: String, info: InfoLog?,
    replies: Replies?, reconnectFor: Duration = RecordingOptions.usualReconnection, _ console: Console,
    pathSink: @escaping @Sendable (String) throws(LiveKitError) -> any RawSink
  ) {
    (self.raw, self.media, self.limits, self.unit) = (raw, media, limits, unit)
    (self.info, self.console, self.replies) = (info, console, replies)
    (self.reconnectFor, self.pathSink) = (reconnectFor, pathSink)
  }

  /// - Parameter environment: what a command is told besides whose media it gets.
  func receiver(
    for subject: RawSubject, in room: Room, environment: [String: String]
  ) throws(LiveKitError) -> any RawReceiver {
    // What is framed says of which stream it is.
    let isShared = raw.framed && !raw.target.hasOneForEach(isFramed: true)
    if isShared, let shared = shared.withLock({ $0 }) { return shared }
    let own = raw.each && !isShared ? variables(of: subject.identity) : [:]
    let made = try make(raw.target.named(values(subject, room)), environment.merging(own) { $1 })
    guard isShared else { return made }
    let shared = SharedReceiver(made)
    self.shared.withLock { $0 = shared }
    return shared
  }

  /// What a command is told of whose media it gets.
  private func variables(of identity: String) -> [String: String] {
    ["MEDIABRIDGE_IDENTITY": identity, "MEDIABRIDGE_NAME": names.withLock { $0.name(of: identity) }]
  }

  private func values(_ subject: RawSubject, _ room: Room) -> FileNameValues.Values {
    var values = FileNameValues(at: Date())
    values.add(room, subject.participant, subject.publication.map { [$0] } ?? [])
    var all = values.values.merging(values.track(of: [.video, .audio])) { $1 }.filter { !$0.value.isEmpty }
    if !subject.identity.isEmpty { all[.publisherIdentity] = subject.identity }
    return raw.knownNames.merging(all) { $1 }
  }

  private func make(_ target: RawTarget, _ environment: [String: String]) throws(LiveKitError) -> any RawReceiver {
    let tell: @Sendable (RawOutput.Fate, RawNote) -> Void = { [info, unit] fate, note in
      note.tally.note(fate, note)
      info?.tell(fate, of: unit, note.fields)
    }
    let slow: @Sendable (String) -> Void = { [console] in console.tell(slowReader: $0) }
    let sink: any RawSink
    switch target {
    case .socket(let path): return try SocketOutput(path, limits: limits, say: slow, tell: tell)
    case .sharedMemory(let path):
      return try SharedMemoryOutput(path, replaces: raw.overwrite, tell: tell, say: said("reader"))
    case .standardOutput: sink = DescriptorSink(media ?? -1, name: "standard output")
    case .webSocket(let url): sink = WebSocketSink(url, reconnectFor: reconnectFor, tell: said("connection"))
    case .path(let path): sink = try ownSink(path)
    case .command(let command):
      sink = ChildSink(command, environment: environment, replies: replies, tell: said("command"))
    }
    return RawOutput(sink, limits: limits, say: slow, tell: tell)
  }

  /// Of several who are called alike, or come back, none writes over what was written of another.
  private func ownSink(_ path: String) throws(LiveKitError) -> any RawSink {
    guard raw.each, !PathSink.isPipe(path), !path.hasPrefix("/dev/") else { return try pathSink(path) }
    let isFolder = PathSink.namesFolder(path)
    let reserved = Destination(location: path.hasSuffix("/") ? String(path.dropLast()) : path).own()
    return NamedSink(try pathSink(reserved.place.location + (isFolder ? "/" : "")), under: reserved)
  }

  /// Says what happens, to people and as an event of that name.
  private func said(_ event: String) -> @Sendable (String) -> Void {
    { [console] in
      console.say($0)
      console.event(event, ["message": $0])
    }
  }
}
