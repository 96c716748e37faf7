import Foundation
public import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

// What people are told on the mixed frame while it runs.
extension RoomComposite {
  /// Shows a label, in the place of the one before.
  /// - Throws: there is no video, nobody who is mixed is called so, or the template has no element that shows it.
  public func set(label: CompositeLabel) async throws(LiveKitError) {
    try check(label)
    labels.board.set(label, at: .now)
    try showLabel(of: label.participant)
    tell(.labelChanged(label))
    if label.participant != nil { await followRoom() }
  }

  /// What is asked for beforehand.
  func checkLabels() throws(LiveKitError) {
    guard options.hasLabels || options.labelTopic != nil || options.burnsCaptions else { return }
    try check(CompositeLabel(""))
  }

  private func check(_ label: CompositeLabel) throws(LiveKitError) {
    guard options.kinds.contains(.video) else {
      throw LiveKitError(.invalidParameter, "labels and captions are shown on video, and none is mixed")
    }
    let isOfTile = label.participant != nil
    guard let mix = mixing.mix else {
      return try LiveKitError.wrapping { () throws(PipelineFailure) in
        try plan.factory.fill(isOfTile ? .tile : .mix, Track.Kind.video.description, values: [:]).checkCaption()
      }
    }
    try mix.checkCaption(isOfTile: isOfTile)
    guard let identity = label.participant, !label.text.isEmpty else { return }
    guard room.participants(of: options.choice).contains(where: { $0.identity == identity }) else {
      throw LiveKitError(.invalidParameter, "nobody who is mixed is called '\(PrintableText(identity, limit: 80))'")
    }
  }

  /// Has what is said seen in the frames of the moment at which it comes. What comes in a pause is cut out.
  func burnCaptions(_ event: RoomEvent) {
    guard options.burnsCaptions, run?.job.media.isPaused == false, let (speaker, segments) = transcription(in: event)
    else { return }
    for segment in segments { burned.withLock { $0.note(segment, of: speaker, at: .now) } }
  }

  func showLabel(of participant: String?) throws(LiveKitError) {
    guard participant == nil, let pipeline = mixing.mix?.video?.pipeline else { return }
    let text = labels.board.text(of: nil)
    try LiveKitError.wrapping { () throws(PipelineFailure) in try pipeline.show(label: text) }
  }

  /// Takes away those whose time is over.
  func expireLabels() {
    for gone in labels.board.expire(at: .now) {
      try? showLabel(of: gone.participant)
      tell(.labelChanged(gone))
    }
  }

  /// Labels that are sent in the room, and those of who has left it.
  func heedLabels(_ event: RoomEvent) async {
    switch event {
    case .dataReceived(let sender, let message, let topic) where topic == options.labelTopic:
      do throws(LiveKitError) {
        guard try labels.messages.allow(at: .now) else { return }
        try await set(label: try CompositeLabel(message: message))
      } catch { tell(.labelRefused(error, sender: sender?.identity)) }
    case .participantDisconnected(let participant):
      guard let identity = participant.identity, labels.board.forget(identity) else { return }
      tell(.labelChanged(CompositeLabel("", participant: identity)))
    default: break
    }
  }
}

/// How many labels the room may send. Pure.
struct LabelMessages: Sendable {
  private var rate = MessageRate(ReplyLines.rate, burst: ReplyLines.burst)
  private var isDropping = false

  /// - Returns: whether one more is shown.
  /// - Throws: for the first of those that are not.
  mutating func allow(at now: MediaTime) throws(LiveKitError) -> Bool {
    let isAllowed = rate.allows(at: now)
    defer { isDropping = !isAllowed }
    guard !isAllowed, !isDropping else { return isAllowed }
    throw LiveKitError(
      .invalidParameter, "more than \(Int(ReplyLines.rate)) labels a second are sent; what is too much is left out")
  }
}
