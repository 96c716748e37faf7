import Egress
import MediaBridge
import MediaCore

/// Makes what streams write to: a reader for each of them, or one for all.
final class RawDestinations: Sendable {
  let target: RawTarget
  /// Whether each stream has a reader of its own.
  let hasMany: Bool
  /// Whether what is written says of which stream it is.
  let isFramed: Bool
  /// Standard output, where that carries the media.
  let media: Int32?
  let limits: RawQueue<InfoFields>.Limits
  /// What `--info` calls what is written.
  let unit: String
  let info: InfoLog?
  let console: Console
  private let replies: Replies?
  private let reconnectFor: Duration
  private let pathSink: @Sendable (String) throws(LiveKitError) -> any RawSink
  private let shared = Locked<(any RawReceiver)?>(nil)

  /// - Parameters:
  ///   - replies: sends into the room what commands print.
  ///   - reconnectFor: how long a server may be away.
  ///   - pathSink: writes files, named pipes and folders.
  init(
    _ raw: RawArguments, _ media: Int32?, limits: RawQueue<InfoFields>.Limits, unit: String, info: InfoLog?,
    replies: Replies?, reconnectFor: Duration = RecordingOptions.usualReconnection, _ console: Console,
    pathSink: @escaping @Sendable (String) throws(LiveKitError) -> any RawSink
  ) {
    (target, hasMany, isFramed) = (raw.target, raw.each, raw.framed)
    (self.media, self.limits, self.unit, self.info, self.console) = (media, limits, unit, info, console)
    (self.replies, self.reconnectFor, self.pathSink) = (replies, reconnectFor, pathSink)
  }

  /// - Parameter environment: what a command is told besides whose media it gets.
  func receiver(
    for identity: String, room: String, environment: [String: String]
  ) throws(LiveKitError) -> any RawReceiver {
    let isShared = isFramed && !target.hasOneForEach(isFramed: true)
    if isShared, let shared = shared.withLock({ $0 }) { return shared }
    let isOfOne = hasMany && !isShared
    let target = isOfOne ? try target.named(identity, room: room) : target
    let made = try make(target, environment.merging(isOfOne ? ["MEDIABRIDGE_IDENTITY": identity] : [:]) { $1 })
    if isShared { shared.withLock { $0 = made } }
    return made
  }

  private func make(_ target: RawTarget, _ environment: [String: String]) throws(LiveKitError) -> any RawReceiver {
    let tell: @Sendable (RawOutput.Fate, InfoFields) -> Void = { [info, unit] fate, note in
      info?.tell(fate, of: unit, note)
    }
    let sink: any RawSink
    switch target {
    case .socket(let path): return try SocketOutput(path, limits: limits, tell: tell)
    case .sharedMemory(let path):
      return try SharedMemoryOutput(path, tell: tell) { [console] in
        console.say($0)
        console.event("reader", ["message": $0])
      }
    case .standardOutput: sink = DescriptorSink(media ?? -1, name: "standard output")
    case .webSocket(let url):
      sink = WebSocketSink(url, reconnectFor: reconnectFor) { [console] in
        console.say($0)
        console.event("connection", ["message": $0])
      }
    case .path(let path): sink = try pathSink(path)
    case .command(let command):
      sink = ChildSink(command, environment: environment, replies: replies) { [console] in
        console.say($0)
        console.event("command", ["message": $0])
      }
    }
    return RawOutput(sink, limits: limits, tell: tell)
  }
}
