/// Decides what an input of an output is fed: as sent where it can be, since that costs least; else raw where it takes
/// that; else encoded.
///
/// The format that an output's caps name first is the one that it is encoded into, by the encode template that a person
/// named, or else by the one of those that make it which has all variables that were set; of several the one with the
/// shortest name, so that `h264` goes before `h264-nvenc`.
public struct FeedChoice: Equatable, Sendable {
  /// The output's `KIND/NAME`.
  public var output: String
  /// The caps of its appsrc.
  public var accepted: CapsText
  /// All encode templates for media of this kind.
  public var encoders: [EncoderTraits]
  /// The encode template that was asked for.
  public var wantedEncoder: String?
  /// Variables that were set and that only encode templates have.
  public var variables: Set<String>
  /// The longest time between two keyframes that the output can do with; nil where it does not matter.
  public var keyframeInterval: Duration?

  /// What the output takes, and what may encode for it.
  public init(
    output: String, accepted: CapsText, encoders: [EncoderTraits], wantedEncoder: String? = nil,
    variables: Set<String> = [], keyframeInterval: Duration? = nil
  ) {
    self.output = output
    self.accepted = accepted
    self.encoders = encoders
    self.wantedEncoder = wantedEncoder
    self.variables = variables
    self.keyframeInterval = keyframeInterval
  }

  /// Why an input can be fed in no way.
  public struct Impossible: Error, Equatable, CustomStringConvertible {
    /// In words, for people.
    public var description: String
  }

  /// The feed of a track.
  /// - Throws: none of the three ways is open.
  public func feed(_ track: TrackTraits) throws(Impossible) -> Feed {
    let sent = fit(of: track)
    guard let reason = wish ?? sent.obstacle ?? obstacle(in: track) else {
      return Feed(.asSent, parser: sent.parser, reason: "\(output) takes \(spoken(track))")
    }
    if let raw = accepted.formats.first(where: \.isRaw), wish == nil {
      return Feed(.raw, reason: "\(output) takes \(raw.spoken)")
    }
    let encoder = try encoder(because: reason)
    return Feed(.encoded(by: encoder.name), parser: parser(behind: encoder), reason: reason)
  }

  /// The same for an input that has begun to take `codec` as it was sent: nothing else fits behind it.
  public func continuing(_ codec: String) -> FeedChoice {
    var choice = self
    choice.accepted = TrackTraits(codec: codec).format.map { CapsText([$0]) } ?? accepted
    return choice
  }

  /// The encode templates that make something which the output takes, in the order in which they are asked.
  public var candidates: [EncoderTraits] {
    let byName = encoders.sorted { ($0.name.count, $0.name) < ($1.name.count, $1.name) }
    guard !accepted.isAny else { return byName.filter { !$0.makesAV1 } + byName.filter(\.makesAV1) }
    var found: [EncoderTraits] = []
    for format in accepted.formats {
      found += byName.filter { encoder in
        !found.contains(encoder) && encoder.makes.formats.contains { format.fit($0, isStrict: false).isPossible }
      }
    }
    return found
  }

  // MARK: Reasons

  /// Why a person wants it encoded.
  private var wish: String? {
    if let wantedEncoder { return "encode/\(wantedEncoder) was asked for" }
    guard !variables.isEmpty else { return nil }
    return "only an encode template has \(variables.sorted().joined(separator: ", "))"
  }

  private func fit(of track: TrackTraits) -> Fit {
    if track.isMixed { return .no("\(output) takes \(taken.isEmpty ? "it" : taken), and what is mixed is raw") }
    guard let codec = track.codec else { return .no("the track's codec is not known yet") }
    guard !accepted.isAny else { return .yes }
    guard let sent = track.format else { return .no("\(codec.uppercased()) cannot be stored as it is sent") }
    let fits = accepted.formats.map { $0.fit(sent, isStrict: true) }
    if let fit = fits.first(where: { $0 == .yes }) ?? fits.first(where: \.isPossible) { return fit }
    if let detail = fits.lazy.compactMap(\.obstacle).first {
      return .no("\(output) takes \(sent.spoken) with \(detail) only")
    }
    return .no("\(output) takes \(taken), and this is \(sent.spoken)")
  }

  private var taken: String {
    var names: [String] = []
    for format in accepted.formats where !names.contains(format.spoken) { names.append(format.spoken) }
    return names.joined(separator: ", ")
  }

  /// What no container and no stream can hold, or this one not.
  private func obstacle(in track: TrackTraits) -> String? {
    if track.mayTurn { return "its frames may come turned, which no file can hold" }
    if track.hasBFrames { return "its frames are sent in another order than they are shown" }
    // One frame of a file is one of a decoder's, and many show the smallest then.
    if track.hasSpatialLayers { return "its frames are sent in several spatial layers" }
    guard let keyframeInterval else { return nil }
    guard let promised = track.keyframeInterval else {
      return keyframeInterval >= Self.shortestRequest
        ? nil
        : "\(output) needs a keyframe every \(keyframeInterval.formatted), which is more often than a sender is asked"
    }
    if promised <= keyframeInterval { return nil }
    return "\(output) needs a keyframe every \(keyframeInterval.formatted), which the track does not promise"
  }

  /// A keyframe costs a sender many ordinary frames.
  private static let shortestRequest = Duration.seconds(1)

  private func spoken(_ track: TrackTraits) -> String { track.format?.spoken ?? track.codec?.uppercased() ?? "it" }

  // MARK: Encoders

  private func encoder(because reason: String) throws(Impossible) -> EncoderTraits {
    let candidates = candidates
    if let wantedEncoder { return try wanted(wantedEncoder, among: candidates) }
    guard !candidates.isEmpty else {
      throw Impossible(description: "\(reason), and no encode template makes \(taken)")
    }
    if let chosen = candidates.first(where: { $0.variables.isSuperset(of: variables) }) { return chosen }
    let names = candidates.map { "encode/\($0.name)" }.joined(separator: ", ")
    throw Impossible(
      description: "none of \(names) has all of the variables \(variables.sorted().joined(separator: ", "))")
  }

  private func wanted(_ name: String, among candidates: [EncoderTraits]) throws(Impossible) -> EncoderTraits {
    if let chosen = candidates.first(where: { $0.name == name }) {
      let missing = variables.subtracting(chosen.variables).sorted()
      guard missing.isEmpty else {
        throw Impossible(description: "encode/\(name) has no variable \(missing.joined(separator: ", "))")
      }
      return chosen
    }
    let makes = encoders.first { $0.name == name }?.makes.formats.first?.spoken ?? "something else"
    throw Impossible(description: "encode/\(name) makes \(makes), and \(output) takes \(taken)")
  }

  private func parser(behind encoder: EncoderTraits) -> String? {
    let fits = encoder.makes.formats.flatMap { made in accepted.formats.map { $0.fit(made, isStrict: false) } }
    return fits.contains(.yes) ? nil : fits.first(where: \.isPossible)?.parser
  }
}

/// Whether media of one format can go where another one is wanted.
enum Fit: Equatable {
  case yes
  /// Once a parser has changed its stream format.
  case parsed(by: String)
  case otherCodec
  case no(String)

  var isPossible: Bool {
    switch self {
    case .yes, .parsed: true
    case .otherCodec, .no: false
    }
  }

  var parser: String? { if case .parsed(let parser) = self { parser } else { nil } }
  var obstacle: String? { if case .no(let reason) = self { reason } else { nil } }
}

extension CapsText.Format {
  /// - Parameter isStrict: whether what `other` does not say is taken for different. An encoder agrees with what
  ///   follows it, a track does not.
  func fit(_ other: Self, isStrict: Bool) -> Fit {
    guard mediaType == other.mediaType else { return .otherCodec }
    var parser: String?
    for (name, values) in fields.sorted(by: { $0.key < $1.key }) {
      let given = other.fields[name]
      if given.map({ !Set($0).isDisjoint(with: values) }) ?? !isStrict { continue }
      guard Self.parsed.contains(name), let able = Self.parsers[mediaType] else {
        return .no("\(name) \(values.joined(separator: " or "))")
      }
      parser = able
    }
    return parser.map { .parsed(by: $0) } ?? .yes
  }

  /// What a parser changes.
  private static let parsed: Set<String> = ["stream-format", "alignment"]
  /// Parameter sets go before every keyframe, for those who tune in late.
  private static let parsers = [
    "video/x-h264": "h264parse config-interval=-1", "video/x-h265": "h265parse config-interval=-1",
    "video/x-av1": "av1parse", "video/x-vp9": "vp9parse", "audio/mpeg": "aacparse",
  ]
}

extension Duration {
  fileprivate var formatted: String {
    let seconds = Double(components.seconds) + Double(components.attoseconds) / 1e18
    return seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
  }
}
