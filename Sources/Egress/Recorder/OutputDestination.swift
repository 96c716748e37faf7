package import PipelineTemplates

/// One of the places that an output goes to, and by which template.
public struct OutputDestination: Sendable, Equatable {
  /// A file's path, or an address such as `rtmp://host/app/key`. A path takes placeholders: `{room_name}`, `{room_id}`,
  /// `{time}` (2006-01-02T150405, the local time), `{utc}` (20060102150405000) and `{publisher_identity}`; that of a file
  /// of one track also `{track_id}`, `{track_type}` and `{track_source}`. What fills them cannot leave the folder. Folders
  /// that are missing are made.
  public var location: String
  /// The name of the output template that writes it, `pipelines/output/NAME.pipeline`; nil takes the one that is called
  /// as the file's name ends, `mp4`, `mkv`, `mp3`, or as the scheme of an address, `rtmp`, `srt`, `udp`; or one of your
  /// own.
  public var output: String?
  /// Values for the variables of this destination's templates, by name; they go before those that are for all. A name
  /// that none of its templates has is an error.
  public var values: [String: String]
  /// How often it was written before, by who has come back, or by a job that begins anew: then it goes beside that.
  package var takesBefore = 0
  /// Whether it is one of many, each for another one in the room: their names may become the same.
  package var isOfMany = false

  /// - Parameters:
  ///   - location: the name's ending decides about the container where `output` does not.
  ///   - output: the name of the output template.
  ///   - values: for this destination alone.
  public init(_ location: String, output: String? = nil, values: [String: String] = [:]) {
    self.location = location
    self.output = output
    self.values = values
  }

  package init(_ destination: Destination, values: [String: String] = [:]) {
    self.init(destination.location, output: destination.output, values: values)
  }

  package var destination: Destination { Destination(location: location, output: output) }
}
