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
  /// The size of the mixed frames; even numbers of pixels.
  public var size: Dimensions
  /// Mixed frames a second.
  public var framerate: Int
  /// How long the large tile stays with one who has become quiet while others speak; zero follows each change at once,
  /// as LiveKit Egress does.
  public var speakerHold: Duration
  /// Whether the name of each participant is written into its tile.
  public var showsNames: Bool
  /// What the output has: `[.audio]` mixes no video and subscribes to none.
  public var kinds: Set<Track.Kind>
  /// Whether it ends by itself when nobody who may publish is left.
  public var endsWhenEmpty: Bool
  /// The longest wait for somebody who sends something; nil waits forever.
  public var wait: Duration?
  /// Whether a file that holds something already is replaced, and is no error.
  public var replacesFiles = true
  /// How much each file holds before the composite goes on in the next one; nil for one file each.
  public var parts: PartLimit?
  /// How long a live server that has taken something may be away, or take nothing, before that ends that destination.
  public var reconnectFor: Duration
  /// Values for the variables of the templates that mix, encode and write, by name, such as `background` and `bitrate`.
  /// A name that none of them has is an error.
  public var values: [String: String]

  /// - Parameter file: the name's ending decides about the container; the only destination. The rest as the properties
  ///   say.
  public init(
    file: String, encode: [String] = [], layout: CompositeLayout = .grid, size: Dimensions = usualSize,
    framerate: Int = usualRate, speakerHold: Duration = .zero, showsNames: Bool = false,
    kinds: Set<Track.Kind> = [.video, .audio], endsWhenEmpty: Bool = false, wait: Duration? = nil,
    reconnectFor: Duration = RecordingOptions.usualReconnection, values: [String: String] = [:]
  ) {
    self.init(
      destinations: [OutputDestination(file)], encode: encode, layout: layout, size: size, framerate: framerate,
      speakerHold: speakerHold, showsNames: showsNames, kinds: kinds, endsWhenEmpty: endsWhenEmpty, wait: wait,
      reconnectFor: reconnectFor, values: values)
  }

  /// - Parameter destinations: where it goes; the rest as the properties say.
  public init(
    destinations: [OutputDestination], encode: [String] = [], layout: CompositeLayout = .grid,
    size: Dimensions = usualSize, framerate: Int = usualRate, speakerHold: Duration = .zero, showsNames: Bool = false,
    kinds: Set<Track.Kind> = [.video, .audio], endsWhenEmpty: Bool = false, wait: Duration? = nil,
    reconnectFor: Duration = RecordingOptions.usualReconnection, values: [String: String] = [:]
  ) {
    (self.destinations, self.encode) = (destinations, encode)
    (self.layout, self.size, self.framerate, self.speakerHold) = (layout, size, framerate, speakerHold)
    self.showsNames = showsNames
    (self.kinds, self.endsWhenEmpty, self.wait) = (kinds, endsWhenEmpty, wait)
    (self.reconnectFor, self.values) = (reconnectFor, values)
  }
}

extension CompositeOptions {
  /// As of LiveKit Egress without a preset.
  public static let usualSize = Dimensions(width: 1280, height: 720)
  /// As of LiveKit Egress without a preset.
  public static let usualRate = 30

  /// What is asked of the outputs, which get nothing as it was sent.
  /// - Parameter values: those that are not for mixing.
  func recording(_ values: [String: String]) -> RecordingOptions {
    var options = RecordingOptions(
      destinations: destinations, encode: encode, kinds: kinds, wait: wait, reconnectFor: reconnectFor, values: values)
    (options.replacesFiles, options.parts) = (replacesFiles, parts)
    return options
  }

  /// - Throws: what no frame can have.
  func check() throws(LiveKitError) {
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
    guard (1...120).contains(framerate) else {
      throw LiveKitError(.invalidParameter, "\(framerate) frames a second: give 1 to 120, such as 30")
    }
  }
}
