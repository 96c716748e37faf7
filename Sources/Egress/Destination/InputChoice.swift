import MediaBridge
import PipelineTemplates

/// What an input of an output can be fed on this machine: an encode template that lacks an element gives way to the
/// next one that makes something the output takes.
struct InputChoice: Sendable {
  /// Also of those that lack one where no other is of use: `OutputPlanner.check` says what is missing, and so does the
  /// pipeline.
  let here: FeedChoice
  /// As if nothing were missing.
  let everywhere: FeedChoice

  /// - Parameters:
  ///   - choice: without encode templates.
  ///   - encoders: for media of its kind, by whether they lack an element.
  ///   - names: of variables that were set and that the output's template does not have.
  init(_ choice: FeedChoice, _ encoders: (whole: [EncoderTraits], lacking: [EncoderTraits]), set names: Set<String>) {
    let whole = Self.choice(choice, encoders.whole, names)
    everywhere = Self.choice(choice, encoders.whole + encoders.lacking, names)
    // A variable that only one of the latter has is none that does not exist.
    let isOfUse = !whole.candidates.isEmpty && whole.variables == everywhere.variables
    here = isOfUse ? whole : everywhere
  }

  private static func choice(_ choice: FeedChoice, _ encoders: [EncoderTraits], _ names: Set<String>) -> FeedChoice {
    var choice = choice
    choice.encoders = encoders
    choice.variables = names.intersection(choice.candidates.flatMap(\.variables))
    return choice
  }

  /// The name of the encode template that has given way to that of a feed; nil where none has.
  func replaced(by feed: Feed, of track: TrackTraits) -> String? {
    guard let encoder = feed.encoder, let first = (try? everywhere.feed(track))?.encoder else { return nil }
    return first == encoder ? nil : first
  }

  /// Whether it is encoded though it could be stored as it is sent, since only an encode template has what was set.
  func isForced(_ track: TrackTraits) -> Bool {
    guard !here.variables.isEmpty else { return false }
    var plain = here
    plain.variables = []
    return (try? plain.feed(track))?.way == .asSent
  }

  /// Whether what comes is encoded whatever it is: nothing that is received is taken as it is sent, also since an encode
  /// template was asked for, or has what was set.
  /// - Parameter isMixed: whether it is made of frames or PCM here.
  func isAlwaysEncoded(isMixed: Bool) -> Bool { isMixed || !takes { $0.way == .asSent } }

  /// The encode template for what is not known yet; nil where only certain codecs can be stored.
  /// - Parameter isMixed: whether it is made of frames or PCM here.
  func encoder(isMixed: Bool) throws(FeedChoice.Impossible) -> String? {
    do throws(FeedChoice.Impossible) { return try here.feed(TrackTraits(codec: nil, isMixed: isMixed)).encoder } catch {
      guard takes({ _ in true }) else { throw error }
      return nil
    }
  }

  /// Whether something that is received is fed in some way.
  private func takes(_ isMeant: (Feed) -> Bool) -> Bool {
    Self.codecs.contains { (try? here.feed(TrackTraits(codec: $0))).map(isMeant) ?? false }
  }

  /// Those that are received.
  static let codecs = ["vp8", "vp9", "h264", "av1", "opus"]
}
