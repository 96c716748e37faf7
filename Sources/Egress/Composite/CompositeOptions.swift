public import MediaBridge
import MediaPipelines
import PipelineTemplates

/// How a room is mixed into one video and one audio, and into what that goes.
public struct CompositeOptions: Sendable {
  /// Where it goes, at least to one: files and addresses, each by a template. Those that want the same share an encoder.
  public var destinations: [OutputDestination]
  /// The names of the encode templates that video and audio go through, at most one for each.
  public var encode: [String]
  /// How the tracks of the room are laid into one frame.
  public var layout: CompositeLayout
  /// Size and rate of the mixed frames, and how they and the audio are encoded.
  public var encoding: EncodingOptions
  /// How long another one has to speak before the large tile changes; once who is there has been quiet for as long, a second
  /// is enough, and what is shorter is a cough. Zero follows each change at once, as LiveKit Egress does.
  public var speakerHold: Duration
  /// Whether the name of each participant is written into its tile, with a mark where its microphone is muted.
  public var showsNames: Bool
  /// Whether who has no camera, or has muted it, has a tile with initials and name. Otherwise, as in LiveKit Egress, the
  /// one has no tile and the other's is black.
  public var showsPlaceholders = false
  /// The identity of the only one who is seen and heard; nil for all. The layout `participant` needs one.
  public var participant: String?
  /// Where `participant` is nil: the identities of those who are seen and heard, in which `*` stands for any characters and
  /// `?` for one; without any all are.
  public var participants: [String] = []
  /// Who is heard in which channel.
  public var audioMixing = AudioMixing.defaultMixing
  /// Whether participants have tracks of their own beside the mix.
  public var audioTracks = AudioTracks.mix
  /// Gaps, background and logo.
  public var scenery = CompositeScenery()
  /// The topic of the data messages that are shown as labels, whoever of the room sends them; nil for none. A message is
  /// `{"text": …, "participant": optional identity, "duration": optional seconds}`, or the text alone.
  public var labelTopic: String?
  /// Whether what is transcribed of those who are mixed is drawn into the frames, from the moment on at which it comes: two
  /// lines at a time, whose texts that are not final yet grow in their place, with the names of those who speak where there
  /// are several. Without regard to `captions`, which is for files.
  public var burnsCaptions = false
  /// Whether there are to be labels, so that a template that cannot show them is an error at once.
  package var hasLabels = false
  /// What the output has: `[.audio]` mixes no video and subscribes to none.
  public var kinds: Set<Track.Kind>
  /// Whether it ends by itself when nobody of those who are seen and heard, and may publish, is left but agents and
  /// recorders of the server's own. It does so in any case once the server has closed the room because everybody had left.
  public var endsWhenEmpty: Bool
  /// How long nobody has to be there for that: `RecordingOptions.emptyTimeout`.
  public var emptyTimeout = RecordingOptions.usualEmptyTimeout
  /// How long it lasts, without pauses: what is of a later moment is not in it, however late it is finished. Nil sets no
  /// limit.
  public var duration: Duration?
  /// The longest wait for somebody who sends something; nil waits forever.
  public var wait: Duration?
  /// Whether a file that holds something already is replaced, and is no error: it is unless this is false. The command line
  /// has it false but for `--overwrite`.
  public var replacesFiles = true
  /// How much each file holds before the composite goes on in the next one; nil for one file each. Images and
  /// live playlists have no parts.
  public var parts: PartLimit?
  /// Whether what is transcribed of those who are heard is written beside the files: `RecordingOptions.captions`.
  public var captions = false
  /// How long a live server that has taken something may be away, or take nothing, before that ends that destination.
  public var reconnectFor: Duration
  /// Values for the variables of the templates that mix, encode and write, by name, such as `delay` and `bitrate`.
  /// A name that none of them has is an error. `width`, `height` and `framerate` of what mixes are those of `encoding`,
  /// and no other ones.
  public var values: [String: String]

  /// - Parameters:
  ///   - file: the name's ending decides about the container; the only destination.
  ///   - size: goes before that of `encoding`, as `framerate` does; the rest as the properties say.
  public init(
    file: String, encode: [String] = [], encoding: EncodingOptions = EncodingOptions(),
    layout: CompositeLayout = .grid, size: Dimensions? = nil, framerate: Int? = nil, speakerHold: Duration = .zero,
    showsNames: Bool = false,
    kinds: Set<Track.Kind> = [.video, .audio], endsWhenEmpty: Bool = false, wait: Duration? = nil,
    reconnectFor: Duration = RecordingOptions.usualReconnection, values: [String: String] = [:]
  ) {
    self.init(
      destinations: [OutputDestination(file)], encode: encode, encoding: encoding, layout: layout, size: size,
      framerate: framerate, speakerHold: speakerHold, showsNames: showsNames, kinds: kinds,
      endsWhenEmpty: endsWhenEmpty, wait: wait,
      reconnectFor: reconnectFor, values: values)
  }

  /// - Parameter destinations: where it goes; the rest as the properties say.
  public init(
    destinations: [OutputDestination], encode: [String] = [], encoding: EncodingOptions = EncodingOptions(),
    layout: CompositeLayout = .grid, size: Dimensions? = nil, framerate: Int? = nil, speakerHold: Duration = .zero,
    showsNames: Bool = false,
    kinds: Set<Track.Kind> = [.video, .audio], endsWhenEmpty: Bool = false, wait: Duration? = nil,
    reconnectFor: Duration = RecordingOptions.usualReconnection, values: [String: String] = [:]
  ) {
    (self.destinations, self.encode) = (destinations, encode)
    (self.layout, self.encoding, self.speakerHold) = (layout, encoding, speakerHold)
    self.showsNames = showsNames
    (self.kinds, self.endsWhenEmpty, self.wait) = (kinds, endsWhenEmpty, wait)
    (self.reconnectFor, self.values) = (reconnectFor, values)
    if let size { self.size = size }
    if let framerate { self.framerate = framerate }
  }
}

extension CompositeOptions {
  var choice: CompositeChoice { CompositeChoice(self) }
  /// What is seen where no tile is.
  var background: CompositeScenery.Background { layout.background ?? scenery.background }

  /// The size of the mixed frames; even numbers of pixels.
  public var size: Dimensions {
    get {
      let values = (encoding.preset?.size ?? Self.usualSize).values(besides: encoding.ownValues)
        .merging(encoding.ownValues) { $1 }
      func side(_ name: String) -> Int32 { values[name].flatMap { Int32($0) } ?? 0 }
      return Dimensions(width: side("width"), height: side("height"))
    }
    set { (encoding.width, encoding.height) = (Int(newValue.width), Int(newValue.height)) }
  }

  /// Mixed frames a second.
  public var framerate: Int {
    get { encoding.framerate ?? encoding.preset?.framerate ?? Self.usualRate }
    set { encoding.framerate = newValue }
  }

  /// As of LiveKit Egress without a preset.
  public static let usualSize = Dimensions(width: 1280, height: 720)
  /// As of LiveKit Egress without a preset.
  public static let usualRate = 30

  /// What is asked of the outputs, which get nothing as it was sent.
  /// - Parameter values: those that are not for mixing.
  func recording(_ values: [String: String]) -> RecordingOptions {
    let ending: RecordingOptions.Ending? = endsWhenEmpty ? participant == nil ? .roomEmpty : .participantLeft : nil
    var options = RecordingOptions(
      destinations: destinations, encode: encode, kinds: kinds, ending: ending, wait: wait, reconnectFor: reconnectFor,
      values: values)
    (options.replacesFiles, options.parts, options.duration) = (replacesFiles, parts, duration)
    (options.encoding, options.emptyTimeout) = (encoding, emptyTimeout)
    (options.hasVoices, options.captions) = (audioTracks == .participant, captions)
    // What is mixed has its size, also where only one side was given.
    if encoding.width != nil || encoding.height != nil {
      (options.encoding.width, options.encoding.height) = (Int(size.width), Int(size.height))
    }
    return options
  }

  /// - Throws: what no frame can have.
  package func check() throws(LiveKitError) {
    let sides = [size.width, size.height]
    guard sides.allSatisfy({ $0 >= 16 && $0 <= 7680 && $0.isMultiple(of: 2) }) else {
      throw LiveKitError(
        .invalidParameter, "a composite of \(size): give even numbers of pixels from 16 to 7680, such as 1280x720")
    }
    for destination in destinations {
      guard let name = ["{publisher_identity}", "{track_"].first(where: destination.location.contains) else { continue }
      throw LiveKitError(
        .invalidParameter,
        "\(destination.destination.shown): \(name)\(name.hasSuffix("}") ? "" : "…}") is of one participant, and a "
          + "composite has all; leave it out")
    }
    if audioTracks == .participant, !kinds.contains(.audio) {
      throw LiveKitError(.invalidParameter, "a track of audio for each participant: there is to be no audio")
    }
    if layout.plain == .participant, participant == nil {
      throw LiveKitError(.invalidParameter, "a composite of one participant: say of whom, by identity")
    }
    if case .own(let layout) = layout.plain, scenery.gap > 0 {
      throw LiveKitError(
        .invalidParameter, "a gap of \(scenery.gap) pixels: \(layout.name) says itself how far its tiles are apart")
    }
    if kinds.contains(.video) { try scenery.check(size) }
    guard (1...120).contains(framerate) else {
      throw LiveKitError(.invalidParameter, "\(framerate) frames a second: give 1 to 120, such as 30")
    }
  }
}
