import MediaCore

/// What a server was told of the settings of tracks, and when it is told others. No clock and no I/O: times come in, and
/// what is to be told comes out.
struct SettingsSchedule {
  struct Message: Hashable {
    let settings: TrackSettings
    let sids: [String]
  }

  /// How long changes are gathered: a program that sets three things in a row means one change.
  static let moment = Duration.milliseconds(10)
  /// A new subscription is not paused before: its renderers may be on their way.
  static let grace = Duration.milliseconds(300)
  /// How often renderers are asked for what they do not say by themselves.
  static let interval = Duration.milliseconds(300)

  private var due: [String: MediaTime] = [:]
  private var graceEnd: [String: MediaTime] = [:]
  /// What the server knows of tracks; nothing of those that may have settings which we do not know.
  private var told: [String: TrackSettings] = [:]

  /// A subscription has begun (anew).
  /// - Parameter settings: how the server begins by itself; nil when we do not know.
  mutating func begin(_ sid: String, with settings: TrackSettings?, at time: MediaTime) {
    graceEnd[sid] = time + Self.grace
    told[sid] = settings
    change(sid, at: time)
  }

  mutating func end(_ sid: String) {
    due[sid] = nil
    graceEnd[sid] = nil
    told[sid] = nil
  }

  /// What the server was told of a track is not what it does.
  mutating func forget(_ sid: String, at time: MediaTime) {
    told[sid] = nil
    change(sid, at: time)
  }

  /// The connection was lost and the session goes on: what was told last may not have been sent, or not have arrived.
  mutating func doubt(at time: MediaTime) {
    told = [:]
    for sid in graceEnd.keys { change(sid, at: time) }
  }

  /// What is wanted of a track may have changed.
  mutating func change(_ sid: String, at time: MediaTime) {
    let time = time + Self.moment
    due[sid] = due[sid].map { min($0, time) } ?? time
  }

  /// When there is something to tell.
  var nextDeadline: MediaTime? { due.values.min() }

  /// What is to be told now: one message for all tracks that are to have the same.
  /// - Parameter wanted: what is wanted of a track; nil when it is not subscribed.
  mutating func poll(at time: MediaTime, _ wanted: (String) -> TrackSettings?) -> [Message] {
    guard let next = nextDeadline, next <= time else { return [] }
    var news: [TrackSettings: [String]] = [:]
    for sid in due.keys {
      due[sid] = nil
      guard let wanted = wanted(sid), wanted != told[sid] else { continue }
      if let end = graceEnd[sid], time < end, told[sid] == nil, !wanted.isEnabled {
        due[sid] = end
      } else {
        told[sid] = wanted
        news[wanted, default: []].append(sid)
      }
    }
    return news.map { Message(settings: $0.key, sids: $0.value.sorted()) }.sorted { $0.sids[0] < $1.sids[0] }
  }
}
