import Foundation
import MediaBridge

// What is told of what is published.
extension Publisher {
  func tell(_ published: [LocalTrackPublication]) {
    let names = published.map { publication in
      let size = publication.dimensions.map { " \($0)" } ?? ""
      let layers = publication.layers.count > 1 ? " in \(publication.layers.count) layers" : ""
      return "\(publication.source) \(name(publication))\(size)\(layers) (\(publication.way))"
    }
    let processed = process.names.isEmpty ? "" : ", processed by \(process.names.joined(separator: ", "))"
    console.say("Publishing \(names.joined(separator: ", "))\(processed) (Ctrl-C ends)")
    console.event(
      "publishing",
      [
        "tracks": published.map { publication in
          let said: [String: Any] = [
            "source": publication.source.description, "codec": codec(of: publication),
            "size": publication.dimensions?.description ?? "", "layers": publication.layers.count,
          ]
          return said.merging(sent(publication)) { $1 }
        }, "process": process.names,
      ])
  }

  /// A person is waited for, who calls the source or chooses at the desktop.
  func tellWhoIsWaitedFor(_ source: PublishSource) {
    let place = source.call.map { ": point OBS, or whatever sends, at \($0.shown)" } ?? ""
    let what =
      source.isListener ? "waits for somebody who calls\(place)" : "choose at the desktop what is to be seen"
    console.say("\(source.shown): \(what) (Ctrl-C ends)")
    var fields: [String: Any] = ["source": source.shown]
    fields["call"] = source.call?.all
    console.event("waiting", fields)
  }

  /// A live source went away, or a call to it came to nothing.
  /// - Parameter next: what is done about it.
  func tellLoss(of source: PublishSource, _ error: LiveKitError, _ next: String) {
    console.say("\(source.shown): \(error.message); \(next)")
    console.event("source_lost", ["source": source.shown, "message": error.message])
  }

  /// - Parameter kind: what has not come of it.
  func tellMissing(_ kind: Track.Kind, of source: PublishSource) {
    let other = kind == .video ? Track.Kind.audio : .video
    console.say("\(source.shown): only \(other) comes of it; its \(kind) is not published")
    console.event("not_published", ["source": source.shown, "kind": "\(kind)"])
  }

  /// - Parameter isSilent: whether nothing comes of it while the rest of its source goes on, or something again.
  func tellSilence(of publication: LocalTrackPublication, _ source: PublishSource, isSilent: Bool) {
    let (kind, now) = (publication.kind, isSilent ? "nothing comes of its" : "something comes again of its")
    console.say("\(source.shown): \(now) \(kind)\(isSilent ? "; the rest goes on" : "")")
    console.event(isSilent ? "track_stalled" : "track_resumed", ["source": source.shown, "kind": "\(kind)"])
  }

  /// Nothing is muted here: somebody in the room, or the server, has done it.
  func tellMuting(of publication: LocalTrackPublication, isMuted: Bool) {
    console.say("\(publication.source): \(isMuted ? "muted by the room; nothing is sent of it" : "not muted any more")")
    console.event(
      isMuted ? "track_muted" : "track_unmuted",
      ["sid": publication.sid, "source": publication.source.description])
  }

  /// Why it is not sent any more; nil while it is.
  func failure(of publication: LocalTrackPublication) -> LiveKitError? {
    publication.sendFailure.map { error in
      LiveKitError(
        error.code, "\(publication.source) is not sent: \(error.message)", fault: error.fault,
        underlying: error.underlying)
    }
  }

  func tellEnd(of publication: LocalTrackPublication, _ error: LiveKitError) {
    console.say("\(publication.source): \(error.message)")
    console.event("source_ended", ["source": publication.source.description, "message": error.message])
  }

  private func sent(_ publication: LocalTrackPublication) -> [String: Any] {
    guard case .encoded(let reason) = publication.way else { return ["sid": publication.sid, "sent": "as it is"] }
    var said: [String: Any] = ["sid": publication.sid, "sent": "encoded"]
    said["reason"] = reason
    return said
  }

  private func codec(of publication: LocalTrackPublication) -> String {
    publication.kind == .audio ? "Opus" : publication.codec?.uppercased() ?? ""
  }

  func tellEnd(of published: [LocalTrackPublication], since begun: ContinuousClock.Instant) {
    let length = ContinuousClock.now - begun
    console.say("Published for \(Format.duration(length))")
    tellSlowness(published)
    let muted = published.filter { $0.isMuted && $0.sendFailure == nil }.map(\.source.description)
    if !muted.isEmpty { console.say("Still muted by the room: \(muted.joined(separator: ", "))") }
    let fields: [String: Any] = ["seconds": Format.seconds(length)]
    console.event("finished", muted.isEmpty ? fields : fields.merging(["muted": muted]) { $1 })
  }

  /// What processing or encoding was too slow for is missing in what was sent.
  private func tellSlowness(_ published: [LocalTrackPublication]) {
    let notProcessed = published.reduce(0) { $0 + (($1.track as? LocalVideoTrack)?.framesNotProcessed ?? 0) }
    if notProcessed > 0 {
      console.say("--process was too slow for \(notProcessed) frames, which were not sent")
      console.event("not_processed", ["frames": notProcessed])
    }
    let notEncoded = published.filter { $0.kind == .video }.reduce(0) { $0 + $1.framesNotEncoded }
    if notEncoded > 0 {
      console.say("This machine was too slow to encode \(notEncoded) frames, which were not sent")
      console.event("not_encoded", ["frames": notEncoded])
    }
  }

  private func name(_ publication: LocalTrackPublication) -> String {
    publication.codec.flatMap(VideoCodec.init(rawValue:))?.spoken ?? codec(of: publication)
  }

  func look(at link: inout LinkWatch, _ published: [LocalTrackPublication]) {
    guard room.connectionState == .connected, let news = link.look(published.map(\.sentLayers)) else { return }
    guard news == .limited else {
      console.say("The link to the server carries all of it again")
      return console.event("link_restored")
    }
    let short = zip(published, link.counts).filter { $1.sent < $1.wanted }
    let tracks = short.map { $1.sent == 0 ? "\($0.source) waits" : "\($0.source) in \($1.sent) of \($1.wanted) layers" }
    console.say(
      "The link to the server carries too little: \(tracks.joined(separator: ", ")), and more as soon as there is room")
    console.event(
      "link_limited",
      ["tracks": short.map { ["source": $0.source.description, "layers": $1.sent, "of": $1.wanted] as [String: Any] }])
  }

  /// - Parameter awaited: sources that nobody has called yet, of which nothing else is told each second.
  func tellWait(for awaited: [Int], since start: ContinuousClock.Instant) {
    if let wait = wait(for: awaited) { console.live("\(Format.duration(.now - start)), \(wait)") }
  }

  /// In words; nil where nobody is waited for.
  private func wait(for awaited: [Int]) -> String? {
    let places = awaited.map { sources[$0].word.call?.shown ?? sources[$0].word.shown }
    return places.isEmpty ? nil : "waiting for a caller at \(places.joined(separator: ", and at "))"
  }

  /// - Parameter awaited: sources that nobody has called yet.
  func tellProgress(
    _ published: [LocalTrackPublication], since begun: ContinuousClock.Instant, awaiting awaited: [Int]
  ) {
    let sent = published.map(\.sent)
    let bytes = sent.reduce(0) { $0 + $1.bytes }
    let wait = wait(for: awaited).map { ", \($0)" } ?? ""
    console.live("\(Format.duration(.now - begun)), \(Format.bytes(Int64(bytes))) sent\(wait)")
    console.progress(
      ["seconds": Format.seconds(.now - begun), "bytes": bytes, "packets": sent.reduce(0) { $0 + $1.packets }])
  }

  func tellWay(of publication: LocalTrackPublication) {
    console.say("\(publication.source) \(name(publication)): from the next keyframe on \(publication.way)")
    console.event("way_changed", sent(publication))
  }
}
