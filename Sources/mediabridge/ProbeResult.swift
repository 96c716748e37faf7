import Foundation
import MediaBridge

/// What was measured of a track, for people and for machines.
struct ProbeResult: CustomStringConvertible {
  let owner: String
  let publication: RemoteTrackPublication
  let count: TrackCount
  /// Of what came; nil where nothing did. Opus may be published as RED, which carries it.
  let mimeType: String?
  /// Share of packets that never came, 0…1; nil when none did.
  let loss: Double?
  /// Why nothing came, as far as is known.
  let failure: LiveKitError?

  private var codec: String {
    (mimeType ?? publication.mimeType).split(separator: "/").last.map(String.init) ?? ""
  }

  var isVideo: Bool { publication.kind == .video }

  var description: String {
    let size = count.size.map { " \($0)" } ?? ""
    let track = "\(owner)  \(publication.source) \(codec.uppercased())\(size)"
    let lost = loss.map { String(format: "  %.2f %% lost", $0 * 100) } ?? ""
    return "\(track)  \(amount)\(lost)"
  }

  private var hasCome: Bool { count.frames > 0 || count.audioSamples > 0 }

  private var amount: String {
    guard hasCome else { return "nothing came" + (failure.map { ": \($0.message)" } ?? "") }
    return isVideo
      ? String(format: "%d frames  %.1f fps", count.frames, count.fps)
      : String(format: "%.1f s of audio", count.audioSeconds)
  }

  var fields: [String: Any] {
    var fields: [String: Any] = [
      "participant": owner, "sid": publication.sid, "source": publication.source.description, "codec": codec,
    ]
    if isVideo {
      fields["frames"] = count.frames
      fields["fps"] = (count.fps * 10).rounded() / 10
    } else {
      fields["audio_samples"] = count.audioSamples
      fields["audio_seconds"] = (count.audioSeconds * 1000).rounded() / 1000
    }
    if let size = count.size { fields["size"] = size.description }
    if let loss { fields["loss"] = loss }
    if let failure, !hasCome { (fields["message"], fields["code"]) = (failure.message, failure.code.rawValue) }
    return fields
  }
}
