/// A line of a pipeline's template file.
public struct SourceLocation: Hashable, Sendable, CustomStringConvertible {
  /// A path, or what stands for one.
  public var file: String
  /// The first line is 1.
  public var line: Int
  /// - Parameter line: counted from 1.
  public init(file: String, line: Int) {
    self.file = file
    self.line = line
  }
  /// `FILE:LINE`.
  public var description: String { "\(file):\(line)" }
}

/// What went wrong in a pipeline, and where.
public struct PipelineError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of mistake it is.
  public enum Kind: Hashable, Sendable {
    /// GStreamer itself could not start.
    case initialization
    /// The template names elements that are not installed.
    case missingElements([String])
    /// The template is not a pipeline description.
    case syntax
    /// The template sets a property that the element lacks, or a value that it does not take.
    case property
    /// Two elements of the template cannot be linked.
    case link
    /// There is no element of that name, or it is not of the kind wanted.
    case noSuchElement
    /// The destination has no space left.
    case diskFull
    /// A file or connection cannot be opened for writing, or a write failed.
    case cannotWrite
    /// A file, device or address is not there.
    case notFound
    /// A file or device cannot be read.
    case cannotRead
    /// Something is in use by somebody else.
    case busy
    /// Somebody refused it: the system, or a server.
    case notAuthorized
    /// Another failure of something outside this process.
    case resource
    /// A decoder, encoder or parser for a format is not installed.
    case missingPlugin
    /// What came in cannot be decoded.
    case decode
    /// What came in cannot be encoded.
    case encode
    /// Elements did not agree on a format, or the data is not what its caps say.
    case format
    /// Another failure inside a media stream.
    case stream
    /// A change of state failed without a reason of its own.
    case stateChange
    /// Something did not happen within its time limit.
    case timeLimit
    /// An error of GStreamer's core or of one of its libraries.
    case framework
  }

  /// For programs.
  public var kind: Kind
  /// One sentence for people, as GStreamer has it.
  public var message: String
  /// The name of the element that reported the error.
  public var element: String?
  /// What the element adds for developers: source file, function, error number.
  public var debug: String?
  /// The line of the template that is to blame, when the pipeline was given a way to find it.
  public var location: SourceLocation?

  /// - Parameter message: one line for people.
  public init(
    _ kind: Kind, _ message: String, element: String? = nil, debug: String? = nil, location: SourceLocation? = nil
  ) {
    self.kind = kind
    self.message = message
    self.element = element
    self.debug = debug
    self.location = location
  }

  /// For people, with place and element where they are known.
  public var description: String {
    let place = location.map { "\($0): " } ?? ""
    let blamed = element.map { "\($0): " } ?? ""
    return place + blamed + message
  }
}
