import MediaCore

/// When a server is told the settings of tracks. No clock and no I/O: times come in, and what is to be told comes out.
struct SettingsSchedule {
  /// What a track's subscriber wants, and what the server was told; nil when it may have settings that we do not know.
  struct Track {
    var wanted: TrackSettings
    var told: TrackSettings?
  }

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

  /// A subscription has begun (anew).
  mutating func begin(_ sid: String, at time: MediaTime) {
    graceEnd[sid] = time + Self.grace
    change(sid, at: time)
  }

  mutating func end(_ sid: String) {
    due[sid] = nil
    graceEnd[sid] = nil
  }

  /// What is wanted of a track may have changed.
  mutating func change(_ sid: String, at time: MediaTime) {
    let time = time + Self.moment
    due[sid] = due[sid].map { min($0, time) } ?? time
  }

  /// When there is something to tell.
  var nextDeadline: MediaTime? { due.values.min() }

  /// What is to be told now: one message for all tracks that are to have the same.
  /// - Parameter track: what there is of a track; nil when it is not subscribed.
  mutating func poll(at time: MediaTime, _ track: (String) -> Track?) -> [Message] {
    guard let next = nextDeadline, next <= time else { return [] }
    var news: [TrackSettings: [String]] = [:]
    for sid in due.keys {
      due[sid] = nil
      guard let track = track(sid), track.wanted != track.told else { continue }
      if let end = graceEnd[sid], time < end, track.told == nil, !track.wanted.isEnabled {
        due[sid] = end
      } else {
        news[track.wanted, default: []].append(sid)
      }
    }
    return news.map { Message(settings: $0.key, sids: $0.value.sorted()) }.sorted { $0.sids[0] < $1.sids[0] }
  }
}
