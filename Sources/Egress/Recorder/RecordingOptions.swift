public import MediaBridge

/// What to record, and where it goes.
public struct RecordingOptions: Sendable {
  /// What ends a recording by itself.
  public enum Ending: String, Sendable {
    /// The recorded participant has left and has not come back at once.
    case participantLeft = "participant_left"
    /// Nobody who may publish is in the room any more but agents and recorders of the server's own, or the server has
    /// closed it for that, which ends any recording.
    case roomEmpty = "room_empty"
    /// None of the recorded tracks, which were named, is published any more.
    case tracksEnded = "tracks_ended"
    /// It is as long as it was to be: `RecordingOptions.duration`.
    case durationReached = "duration"
  }

  /// Where it goes, at least to one: files and addresses, each by a template. Those that want the same share an encoder.
  public var destinations: [OutputDestination]
  /// The names of the encode templates that video and audio go through, at most one for each; a kind without one is
  /// encoded only where it has to be, by a template that makes what the output takes. Each is for all destinations that
  /// take its kind.
  public var encode: [String]
  /// The participant's identity; nil takes the first one that sends something, and tells who else does.
  public var participant: String?
  /// Where no participant is named: only those count whose identity is like one of these, in which `*` stands for any
  /// characters and `?` for one; without any all count.
  public var participantPatterns: [String] = []
  /// Single tracks of one participant: one video, one audio, or one of each.
  public var trackSids: [String]
  /// Which of the participant's sources to record: at most one of video and one of audio. Without any, the first that
  /// is published of camera, screen share and unnamed video, and of microphone, screen-share audio and unnamed audio.
  public var sources: [Track.Source]
  /// Only tracks count whose name is like one of these, with wildcards as of `participantPatterns`; without any all count.
  public var trackNames: [String] = []
  /// What the file has of a participant when neither tracks nor sources are named, `[.audio]` or `[.video]` for one of
  /// the two: silence or black where nothing is sent.
  public var kinds: Set<Track.Kind>
  /// Whether a file that holds something already is replaced, and is no error: it is unless this is false. The command line
  /// has it false but for `--overwrite`. A `RecorderGroup` replaces none that this process has written.
  public var replacesFiles = true
  /// How much each file holds before the recording goes on in the next one; nil for one file each. Images and
  /// live playlists have no parts.
  public var parts: PartLimit?
  /// Whether what is transcribed while it runs is written, too: as WebVTT beside each file, `NAME.vtt`, and into those whose
  /// template has the input `captions`, as a track of text; beside a playlist as a rendition, which `NAME_master.m3u8` names.
  public var captions = false
  /// Whether voices have tracks of their own beside the mix.
  var hasVoices = false
  /// Whether a track that was named is still that one when it has another SID, as in a new session.
  var followsSids = true
  /// What ends the recording besides `Recorder.finish()` and `duration`.
  public var ending: Ending?
  /// How long that has to hold which `ending` says, since who lost a connection comes back. What is longer than 2 s is in the
  /// recording, too.
  public var emptyTimeout = usualEmptyTimeout
  /// How long it lasts, without pauses: what is of a later moment is not in it, however late it is finished. Nil sets no
  /// limit.
  public var duration: Duration?
  /// The longest wait for the participant and its media; nil waits forever.
  public var wait: Duration?
  /// Size, bitrates and keyframes of what is encoded: short for values of these templates, and before their defaults.
  public var encoding: EncodingOptions
  /// Values for the variables of the output templates and of the encode templates, by name, such as `width` and
  /// `bitrate`, for all destinations whose templates have them; they go before what is derived from what is received. A
  /// track is encoded where only its encode template has a variable. A name that no template for a destination has is an
  /// error.
  public var values: [String: String]
  /// How long a live server that has taken something may be away before that ends that destination; zero ends it as soon as
  /// the server is lost. It is lost, too, where it takes nothing for as long, which is 5 s at least and 10 s at most.
  public var reconnectFor: Duration

  /// - Parameters:
  ///   - file: the name's ending decides about the container; the only destination.
  ///   - output: the name of the output template; the rest as the properties say.
  public init(
    file: String, output: String? = nil, encode: [String] = [],
    encoding: EncodingOptions = EncodingOptions(), participant: String? = nil, trackSids: [String] = [],
    sources: [Track.Source] = [],
    kinds: Set<Track.Kind> = [.video, .audio], ending: Ending? = nil, wait: Duration? = nil,
    reconnectFor: Duration = usualReconnection, values: [String: String] = [:]
  ) {
    self.init(
      destinations: [OutputDestination(file, output: output)], encode: encode, encoding: encoding,
      participant: participant,
      trackSids: trackSids, sources: sources, kinds: kinds, ending: ending, wait: wait,
      reconnectFor: reconnectFor, values: values)
  }

  /// - Parameter destinations: where it goes; the rest as the properties say.
  public init(
    destinations: [OutputDestination], encode: [String] = [],
    encoding: EncodingOptions = EncodingOptions(), participant: String? = nil, trackSids: [String] = [],
    sources: [Track.Source] = [],
    kinds: Set<Track.Kind> = [.video, .audio], ending: Ending? = nil, wait: Duration? = nil,
    reconnectFor: Duration = usualReconnection, values: [String: String] = [:]
  ) {
    self.destinations = destinations
    self.encode = encode
    self.encoding = encoding
    self.participant = participant
    self.trackSids = trackSids
    self.sources = sources
    self.kinds = kinds
    self.ending = ending
    self.wait = wait
    self.values = values
    self.reconnectFor = reconnectFor
  }
}

extension RecordingOptions {
  /// As LiveKit Egress waits for a live server.
  public static let usualReconnection = Duration.seconds(30)

  /// As short as whoever lost a connection is away; LiveKit's server closes a room about 20 s after the last has left.
  public static let usualEmptyTimeout = Duration.seconds(2)

  /// What is recorded, in words.
  var request: String {
    switch trackSids.count {
    case 0: "participant \(participant ?? NamePatterns(participantPatterns).words ?? "who sends something first")"
    case 1: "track \(trackSids[0])"
    default: "track composite of \(trackSids.joined(separator: " and "))"
    }
  }

  /// Whether neither one participant nor single tracks are named: several may fit, and one is taken.
  var mayBeAnybody: Bool { participant == nil && trackSids.isEmpty }

  /// The kinds of media that are asked for, before it is known which tracks there are.
  var wantedKinds: Set<Track.Kind> {
    if !trackSids.isEmpty { return [.video, .audio] }
    return sources.isEmpty ? kinds : Set(sources.map(\.kind))
  }

  /// Those of which something is to come: what a single track is is known in the room alone.
  var foreseenKinds: Set<Track.Kind> { trackSids.isEmpty ? wantedKinds : [] }

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
