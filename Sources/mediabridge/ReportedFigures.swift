import Egress
import MediaCore

// What is told of an output's figures.
extension OutputProgress {
  /// Of all destinations.
  var allFrames: Int {
    destinations.reduce(0) { $0 + ($1.tracks.first { $0.kind == .video }?.buffers ?? 0) }
  }
}

extension MixLosses {
  /// For machines.
  var fields: [String: Any] {
    [
      "frames_not_mixed": framesNotMixed, "frames_dropped": framesDropped, "frames_ahead": framesAhead,
      "audio_dropped": audioDropped, "audio_late": audioLate,
    ]
  }

  /// For people.
  var spoken: [String] {
    let all = [
      (framesNotMixed, "frames were not mixed, for want of speed"),
      (framesDropped, "frames of participants were not seen, for want of speed"),
      (framesAhead, "frames of participants were seen ahead of their audio, since their senders' times differ"),
      (audioDropped, "blocks of audio were not heard, for want of speed"),
      (audioLate, "blocks of audio came too late to be heard; a larger --set audio-delay=… waits for them"),
    ]
    return all.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)." }
  }
}

extension DestinationStatus {
  /// What has really gone there.
  var sent: Duration { max(duration - (stream?.away ?? .zero), .zero) }

  /// For machines.
  var fields: [String: Any] {
    var fields: [String: Any] = ["file": location, "state": state.rawValue, "duration": Format.seconds(duration)]
    if isFile { fields["bytes"] = bytes }
    if !segments.isEmpty { fields["segment_count"] = segments.count }
    if let captions { fields["captions"] = captions.fields }
    if let missing { fields["missing"] = missing.fields }
    if !incompleteParts.isEmpty { fields["incomplete_parts"] = incompleteParts.map(\.message) }
    if let stream {
      fields["losses"] = stream.losses
      fields["reason"] = stream.reason?.message
    }
    if let failure { (fields["message"], fields["code"]) = (failure.message, failure.code.rawValue) }
    return fields
  }
}

extension MediaLoss {
  /// For machines.
  var fields: [String: Any] {
    [
      "since": Format.seconds(since), "video": Format.seconds(video), "audio": Format.seconds(audio),
      "goes_on": goesOn,
    ]
  }
}

extension CaptionStatus {
  /// For machines.
  var fields: [String: Any] {
    var fields: [String: Any] = ["files": files, "cues": cues]
    if lateCues > 0 { fields["late_cues"] = lateCues }
    return fields
  }
}
