/// What one side can do with audio and video: which formats of an offer an answer takes, and with what around them.
public struct MediaCapabilities: Equatable, Sendable {
  /// A format that is taken when the name, the clock rate and every rule agree.
  public struct Format: Equatable, Sendable {
    /// An fmtp parameter that must have one of some values.
    public struct Rule: Equatable, Sendable {
      /// Its name; compared without case.
      public var parameter: String
      /// The values that are taken, as they are written.
      public var allowed: [String]
      /// What the parameter's absence means.
      public var absent: String

      /// - Parameter absent: the value that the format's RFC gives to the parameter where it is not written.
      public init(_ parameter: String, in allowed: [String], absent: String) {
        self.parameter = parameter
        self.allowed = allowed
        self.absent = absent
      }
    }

    /// The encoding name; compared without case.
    public var name: String
    /// Ticks of the RTP timestamp per second.
    public var clockRate: UInt32
    /// All must hold.
    public var rules: [Rule]

    /// - Parameter rules: empty takes the format with any parameters.
    public init(_ name: String, clockRate: UInt32, rules: [Rule] = []) {
      self.name = name
      self.clockRate = clockRate
      self.rules = rules
    }

    /// Whether an offered format is this one, in a form that is taken.
    public func matches(_ codec: Codec) -> Bool {
      codec.isNamed(name) && codec.clockRate == clockRate
        && rules.allSatisfy { $0.allowed.contains(codec.parameter($0.parameter) ?? $0.absent) }
    }
  }

  /// The side of the capabilities that belongs to one kind of media.
  public struct Media: Equatable, Sendable {
    /// The order does not matter: the offer's holds.
    public var formats: [Format]
    /// URIs; see `HeaderExtensionURI`.
    public var headerExtensions: [String]
    /// Feedback values as in `Codec.feedback`.
    public var feedback: [String]

    /// - Parameter feedback: what of an offered format's feedback is agreed to.
    public init(formats: [Format], headerExtensions: [String], feedback: [String]) {
      self.formats = formats
      self.headerExtensions = headerExtensions
      self.feedback = feedback
    }
  }

  /// For sections of audio.
  public var audio: Media
  /// For sections of video.
  public var video: Media
  /// Whether RTX is taken for each accepted format that the offer repairs.
  public var rtx = true
  /// Whether RED is taken when the format inside it is.
  public var red = true
  /// Whether offered simulcast streams are answered with `recv`: a server's part.
  public var receivesSimulcast = false
  /// In bytes, written into the answer of a data channel section.
  public var maxMessageSize: UInt64 = 262_144

  /// With RTX and RED, as a receiver of single streams.
  public init(audio: Media, video: Media) {
    self.audio = audio
    self.video = video
  }

  /// The side for a kind of media; nil where that is neither audio nor video.
  public func media(for kind: MediaSection.Kind) -> Media? {
    switch kind {
    case .audio: audio
    case .video: video
    default: nil
    }
  }
}

extension MediaCapabilities.Format {
  /// 48 kHz always, mono or stereo (RFC 7587).
  public static let opus = Self("opus", clockRate: 48_000)
  /// Any (RFC 7741).
  public static let vp8 = Self("VP8", clockRate: 90_000)
  /// Only 8-bit 4:2:0, which is what decoders on the far side of a pipeline expect (RFC 9628, 6: absent means 0).
  public static let vp9 = Self("VP9", clockRate: 90_000, rules: [.init("profile-id", in: ["0"], absent: "0")])
  /// Single NAL unit and non-interleaved mode (RFC 6184, 8.1: absent means 0); any profile.
  public static let h264 = Self(
    "H264", clockRate: 90_000, rules: [.init("packetization-mode", in: ["0", "1"], absent: "0")])
  /// Any (RFC 7798).
  public static let h265 = Self("H265", clockRate: 90_000)
  /// The main profile only; absent means that (the AV1 RTP specification).
  public static let av1 = Self("AV1", clockRate: 90_000, rules: [.init("profile", in: ["0"], absent: "0")])
}

extension MediaCapabilities {
  /// A subscriber that decodes or records: everything that there is a receive template for.
  public static let subscriber = MediaCapabilities(
    audio: Media(
      formats: [.opus],
      headerExtensions: [
        HeaderExtensionURI.mid, HeaderExtensionURI.audioLevel, HeaderExtensionURI.absSendTime,
        HeaderExtensionURI.transportCC, HeaderExtensionURI.absCaptureTime,
      ], feedback: ["transport-cc", "nack"]),
    video: Media(
      formats: [.vp8, .vp9, .h264, .av1],
      headerExtensions: [
        HeaderExtensionURI.mid, HeaderExtensionURI.absSendTime, HeaderExtensionURI.transportCC,
        HeaderExtensionURI.absCaptureTime, HeaderExtensionURI.dependencyDescriptor, HeaderExtensionURI.videoOrientation,
      ], feedback: ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"]))

  /// A room server that takes what a publisher offers, layer by layer, also what not every subscriber can decode.
  /// - Parameter takesOrientation: whether publishers may leave it to subscribers to turn frames; one that is not asked
  ///   for the orientation sends frames that are turned already.
  public static func server(takesOrientation: Bool = false) -> MediaCapabilities {
    var capabilities = MediaCapabilities.subscriber
    capabilities.video.formats.append(.h265)
    if !takesOrientation {
      capabilities.video.headerExtensions.removeAll { $0 == HeaderExtensionURI.videoOrientation }
    }
    capabilities.receivesSimulcast = true
    let streamIDs = [HeaderExtensionURI.rtpStreamID, HeaderExtensionURI.repairedRTPStreamID]
    capabilities.audio.headerExtensions += streamIDs
    capabilities.video.headerExtensions += streamIDs
    return capabilities
  }
}
