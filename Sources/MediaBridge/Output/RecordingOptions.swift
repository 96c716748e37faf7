import MediaCore

/// What to record, and into what.
public struct RecordingOptions: Sendable {
  /// What ends a recording by itself.
  public enum Ending: String, Sendable {
    /// The recorded participant has left and has not come back at once.
    case participantLeft = "participant_left"
    /// Nobody who may publish is in the room any more.
    case roomEmpty = "room_empty"
  }

  /// A name that ends in `.mp4`, `.mkv` or `.webm`.
  public var file: String
  /// The participant's identity; nil takes the first one that sends something.
  public var participant: String?
  /// Single tracks of one participant: one video, one audio, or one of each.
  public var trackSids: [String]
  /// Which of the participant's sources to record: at most one of video and one of audio. Without any, the first that
  /// is published of camera, screen share and unnamed video, and of microphone, screen-share audio and unnamed audio.
  public var sources: [Track.Source]
  /// What the file has of a participant when neither tracks nor sources are named: silence or black where nothing is
  /// sent.
  public var kinds: Set<Track.Kind>
  /// What ends the recording besides `Recorder.finish()`.
  public var ending: Ending?
  /// The longest wait for the participant and its media; nil waits forever.
  public var wait: Duration?
  /// Values for the variables of the output's text, by name, such as `width` and `bitrate`; they go before what is
  /// derived from what is received. Where only the text that encodes anew has a variable, the recording is encoded anew.
  /// A name that no text for the file has is an error.
  public var values: [String: String]

  /// - Parameter file: the name's ending decides about the container; the rest as the properties say.
  public init(
    file: String, participant: String? = nil, trackSids: [String] = [], sources: [Track.Source] = [],
    kinds: Set<Track.Kind> = [.video, .audio], ending: Ending? = nil, wait: Duration? = nil,
    values: [String: String] = [:]
  ) {
    self.file = file
    self.participant = participant
    self.trackSids = trackSids
    self.sources = sources
    self.kinds = kinds
    self.ending = ending
    self.wait = wait
    self.values = values
  }
}

extension RecordingOptions {
  /// - Throws: what is asked for does not fit into one file.
  func checkChoice() throws(LiveKitError) {
    guard !sources.contains(.unknown) else {
      throw LiveKitError(.invalidParameter, "a source that is not known cannot be asked for; name its track")
    }
    for kind in [Track.Kind.video, .audio] {
      let names = Set(sources).filter { $0.kind == kind }.map { "--source \($0.optionName)" }.sorted()
      guard names.count > 1 else { continue }
      throw LiveKitError(
        .invalidParameter, "\(names.joined(separator: " and ")) are both \(kind): \(Self.oneOfEach)")
    }
    guard Set(trackSids).count > 2 else { return }
    throw LiveKitError(.invalidParameter, "\(Set(trackSids).count) tracks are asked for: \(Self.oneOfEach)")
  }

  static let oneOfEach = "a file holds one video and one audio; give the other to another 'record'"
}
