import Egress

// What has changed while it was written, and what was said meanwhile.
extension RecordingReport {
  func describe(_ captions: CaptionStatus) -> String {
    let files = captions.files.joined(separator: ", ")
    guard captions.cues > 0 else {
      return "Nothing was transcribed meanwhile: \(files) \(captions.files.count > 1 ? "are" : "is") empty"
    }
    let cues = "Captions in \(files): \(captions.cues) \(captions.cues == 1 ? "cue" : "cues")"
    guard captions.lateCues > 0 else { return cues }
    return "\(cues); \(captions.lateCues) of them came when their part was complete, whose own text track is without"
  }

  func describe(_ change: CodecChange) -> String {
    let place = isOne ? "" : "\(change.location): "
    let form = change.sent == change.held ? "in spatial layers" : "as \(change.sent.uppercased())"
    let what = "\(place)From \(Format.duration(change.start)) on the video comes \(form)"
    if let part = change.part { return "\(what), and goes on in \(part)" }
    return "\(what), and encode/\(change.encoder ?? "") makes \(change.held.uppercased()) of it, which the file holds"
  }

  func fields(_ change: CodecChange) -> [String: Any] {
    var fields: [String: Any] = [
      "file": change.location, "sid": change.sid, "held": change.held, "sent": change.sent,
      "start": Format.seconds(change.start),
    ]
    fields["encoder"] = change.encoder
    fields["part"] = change.part
    return fields
  }

  func describe(_ reload: TemplateReload) -> String {
    let place = isOne ? "" : "\(reload.location): "
    let templates = reload.templates.joined(separator: " and ")
    let what = "\(place)From \(Format.duration(reload.start)) on it is made by the new \(templates)"
    return reload.part.map { "\(what), and goes on in \($0)" } ?? what
  }

  /// What a destination that goes on lacks since it was told of last; its end says all of it.
  func lacks(of status: DestinationStatus, besides before: Told?) -> [String] {
    guard !status.hasEnded, status.state != .ending else { return [] }
    let parts = status.incompleteParts.dropFirst(before?.incompleteParts ?? 0)
    let lacks = parts.map { "\($0.message). \(status.location) goes on." }
    guard let missing = status.missing, missing.news != before?.missing?.news else { return lacks }
    return lacks + [status.isFile ? describe(missing, of: status.location) : describe(missing, sentTo: status.location)]
  }

  private func describe(_ missing: MediaLoss, sentTo location: String) -> String {
    let unsent = "\(missing.amount) were not sent, the first at \(Format.duration(missing.since))."
    return missing.goesOn
      ? "\(location): its server does not take it as fast as it comes: so far \(unsent) \(Self.relief)"
      : "\(location): its server takes it as fast as it comes again: \(unsent)"
  }

  /// What a live stream that has ended lacks.
  func describe(untaken missing: MediaLoss) -> String {
    "Its server did not take it as fast as it came: \(missing.amount) were not sent, the first at "
      + "\(Format.duration(missing.since)). \(Self.relief)"
  }

  private static let relief = "A smaller --video-bitrate, or a faster way there, helps."

  private func describe(_ missing: MediaLoss, of location: String) -> String {
    let amount = "\(missing.amount) are missing\(missing.goesOn ? " so far" : "")"
    let state =
      missing.goesOn
      ? "\(location) is not written as fast as it comes"
      : "\(location) is written as fast as it comes again"
    return "\(state): \(amount), the first at \(Format.duration(missing.since))."
  }

  func fields(_ reload: TemplateReload) -> [String: Any] {
    var fields: [String: Any] = [
      "file": reload.location, "templates": reload.templates, "start": Format.seconds(reload.start),
    ]
    fields["part"] = reload.part
    return fields
  }
}
