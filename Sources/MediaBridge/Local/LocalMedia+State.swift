import MediaCore
import MediaPipelines

extension LocalMedia {
  /// Who takes something.
  struct Output {
    let id: ObjectIdentifier
    var form: Form
    /// Whether it only measures what is sent as it comes.
    let isMeter: Bool
    let onFailure: (@Sendable (LiveKitError) -> Void)?
    let take: @Sendable (CapturedMedia) -> Void
  }

  /// Who takes what comes, and what decodes it.
  struct State {
    var outputs: [Output] = []
    var decoder = Decoder.none
    /// What has come of video since the last keyframe while the decoder is made; nil for audio, which needs none.
    var kept: KeptGroup<CapturedMedia>?
    /// When the newest of it came; nil where there is none.
    var keptAt: MediaTime?
    /// In which no decoder is made, since one has failed.
    var retry = RetryPause()
  }

  /// What becomes of the decoder.
  enum Decoder {
    case none
    case making
    case made(MediaDecoder)
    /// Another one is made with what comes after a pause.
    case failed(LiveKitError)
    /// They have failed again and again. Tried again once it captures anew.
    case givenUp

    var made: MediaDecoder? { if case .made(let decoder) = self { decoder } else { nil } }
  }

  /// Where something that came encoded goes.
  struct Route {
    var outputs: [Output]
    var decoder: MediaDecoder?
    /// For the decoder, ahead of it.
    var kept: [CapturedMedia] = []
    var makesDecoder = false
  }

  /// What there is at the end of what is captured.
  struct Rest {
    let decoder: MediaDecoder?
    /// What it has not got yet.
    let kept: [CapturedMedia]
    /// Why nothing has been decoded of late, which nobody was told yet.
    let failure: LiveKitError?
    /// Whether what is decoded is to be sent, and not only to be seen here.
    let isSent: Bool
  }

  /// What a decoder that has failed leaves.
  struct Failure {
    let decoder: MediaDecoder?
    /// Whether no other one is made.
    let isOver: Bool
    /// Who takes what was decoded.
    let outputs: [Output]
  }
}

extension LocalMedia.State {
  /// That of the second failure in a row.
  private static let longestPause = Duration.seconds(4)

  /// Who gets encoded media, the decoder that does, and whether one is to be made.
  /// - Parameter isProcessed: whether nobody may get it before it is decoded and processed.
  mutating func route(_ media: CapturedMedia, isProcessed: Bool) -> LocalMedia.Route {
    if isProcessed { for index in outputs.indices { outputs[index].form = .raw } }
    guard isProcessed || takesRaw else { return LocalMedia.Route(outputs: outputs) }
    if decoder.made != nil, !media.media.isDelta { beginRaw() }
    var route = LocalMedia.Route(outputs: outputs.filter { $0.form != .raw })
    switch decoder {
    case .made(let made): (route.decoder, route.kept) = (made, takeKept())
    case .making: keep(media, isProcessed: isProcessed)
    case .none, .failed:
      guard retry.isOver(at: .now) else { break }
      (decoder, route.makesDecoder) = (.making, true)
      forgetKept()
      keep(media, isProcessed: isProcessed)
    case .givenUp: break
    }
    return route
  }

  /// At a keyframe, with which the decoder can begin as well.
  private mutating func beginRaw() {
    forgetKept()
    for index in outputs.indices where outputs[index].form == .rawSoon { outputs[index].form = .raw }
  }

  /// Who has raw media from the next keyframe on only has had this one as it is.
  private mutating func keep(_ media: CapturedMedia, isProcessed: Bool) {
    guard isProcessed || outputs.contains(where: { $0.form == .raw }) else { return }
    kept?.add(media, isKeyframe: !media.media.isDelta, at: media.time)
    keptAt = media.time
  }

  private mutating func takeKept() -> [CapturedMedia] {
    guard let keptAt, let frames = kept?.frames(at: keptAt) else { return [] }
    forgetKept()
    return frames
  }

  private mutating func forgetKept() {
    kept?.clear()
    keptAt = nil
  }

  /// - Returns: false where nobody wants it any more.
  mutating func keep(_ made: MediaDecoder, isProcessed: Bool) -> Bool {
    guard case .making = decoder else { return false }
    decoder = isProcessed || takesRaw ? .made(made) : .none
    return decoder.made != nil
  }

  /// - Returns: nil where that is known: elements behind the one that failed say so, too.
  mutating func fail(_ error: LiveKitError, at now: MediaTime) -> LocalMedia.Failure? {
    switch decoder {
    case .making, .made: break
    case .none, .failed, .givenUp: return nil
    }
    let failed = takeDecoder()
    let isOver = retry.next(at: now) > Self.longestPause
    decoder = isOver ? .givenUp : .failed(error)
    return LocalMedia.Failure(decoder: failed, isOver: isOver, outputs: outputs.filter { $0.form != .asItComes })
  }

  /// - Returns: nil while a decoder is made.
  mutating func end() -> LocalMedia.Rest? {
    if case .making = decoder { return nil }
    let failure: LiveKitError? = if case .failed(let error) = decoder { error } else { nil }
    let isSent = outputs.contains { $0.form != .asItComes && $0.onFailure != nil && !$0.isMeter }
    let kept = takeKept()
    return LocalMedia.Rest(decoder: takeDecoder(), kept: kept, failure: failure, isSent: isSent)
  }

  /// Whether somebody takes raw media, or is to.
  var takesRaw: Bool { outputs.contains { $0.form != .asItComes } }

  mutating func takeDecoder() -> MediaDecoder? {
    defer { decoder = .none }
    forgetKept()
    return decoder.made
  }
}
