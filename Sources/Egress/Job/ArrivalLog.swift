/// What has come of each track, also where it comes in another session of the room since, or in another codec, and is counted
/// anew there. Pure.
struct ArrivalLog: Sendable {
  private struct Entry {
    /// As it comes now.
    var track: Manifest.Track
    /// What came before that.
    var (packets, lost) = (0, 0)

    init(_ track: Manifest.Track) { self.track = track }

    var whole: Manifest.Track {
      var whole = track
      whole.packets += packets
      whole.lost += lost
      return whole
    }
  }

  /// By the server's ids; of tracks that have gone, too.
  private var entries: [String: Entry] = [:]

  /// - Parameter track: with what has come of it since it began, or began anew.
  mutating func note(_ track: Manifest.Track) { entries[track.trackId, default: Entry(track)].track = track }

  /// It ends, or begins anew.
  mutating func close(_ sid: String) {
    guard var entry = entries[sid] else { return }
    let whole = entry.whole
    (entry.packets, entry.lost) = (whole.packets, whole.lost)
    (entry.track.packets, entry.track.lost) = (0, 0)
    entries[sid] = entry
  }

  func has(_ sid: String) -> Bool { entries[sid] != nil }

  /// In the order of who published them.
  var tracks: [Manifest.Track] {
    entries.values.map(\.whole).sorted { ($0.publisherIdentity, $0.trackId) < ($1.publisherIdentity, $1.trackId) }
  }

  /// Of all tracks of a kind.
  /// - Parameter kind: as manifests name it.
  func sum(_ kind: String) -> (packets: Int, lost: Int) {
    entries.values.map(\.whole).reduce((0, 0)) { sum, track in
      track.kind == kind ? (sum.packets + track.packets, sum.lost + track.lost) : sum
    }
  }
}
