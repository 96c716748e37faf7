import MediaCore
import MediaPipelines

/// Which tracks of audio a composite has.
public enum AudioTracks: String, CaseIterable, Sendable {
  /// One, in which all are mixed.
  case mix
  /// That one first, and behind it one of each participant in the order of their coming, called as they are, for those who
  /// edit later: as long as the file, silent where nothing is heard of them. The audio of a shared screen has one of its
  /// own. Whoever comes later has one from the next part on, `name-2.mkv`, which begins for that; until then they are in
  /// the mix. Takes a destination that holds several, such as `.mkv` and `.mp4`; others have the mix alone.
  case participant
}

/// Whose audio has a track of its own. A participant's stays theirs when they leave and come back. Pure.
struct VoiceList: Sendable {
  /// Somebody's audio that is published.
  struct Track: Sendable {
    var sid: String
    var identity: String
    var name: String
    var isScreen: Bool

    fileprivate var owner: Owner { Owner(identity: identity, isScreen: isScreen) }
    fileprivate var title: String { PrintableText(isScreen ? "\(name) (screen)" : name, limit: 80).description }
  }

  fileprivate struct Owner: Hashable {
    var identity: String
    var isScreen: Bool
  }

  /// Each has an encoder, also while nothing is heard of them.
  static let limit = 32

  /// In the order of their tracks.
  private(set) var all: [Voice] = []
  private var owners: [Int: Owner] = [:]
  /// By the sid of what is published now.
  private(set) var numbers: [String: Int] = [:]

  /// - Parameter tracks: all that are published now, in the order of their coming.
  mutating func follow(_ tracks: [Track]) {
    numbers = numbers.filter { known in tracks.contains { $0.sid == known.key } }
    for track in tracks where numbers[track.sid] == nil { numbers[track.sid] = number(for: track) }
  }

  /// Nil where there are too many.
  private mutating func number(for track: Track) -> Int? {
    let free = all.first { owners[$0.number] == track.owner && !numbers.values.contains($0.number) }
    if let free { return free.number }
    guard all.count < Self.limit else { return nil }
    let voice = Voice(number: all.count + 2, title: track.title)
    all.append(voice)
    owners[voice.number] = track.owner
    return voice.number
  }
}
