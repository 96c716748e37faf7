import MediaBridge
import MediaCore

// Whoever comes later has a track of their own from another part on.
extension JobDestination {
  /// Those whom the next part is to have a track of; nil while what it has is right, or no part may begin.
  /// - Parameter voices: all that there are, of which earlier ones stay.
  func plan(adding voices: [Voice], _ media: JobMedia) -> OutputPlan? {
    var plan = plan
    guard planner.takesVoices, plan.voices.count < voices.count else { return nil }
    guard let part = part(of: media), !part.hasNext, part.now >= part.begin + Self.leastPart else { return nil }
    plan.voices = voices
    return plan
  }
  /// A room that fills is to begin few parts.
  private static let leastPart = Duration.seconds(5)

  /// Goes on in another part, which has a track of each.
  /// - Parameter added: what feeds those that are new.
  /// - Throws: why it cannot be opened; then it is fed as before.
  func takeOver(_ plan: OutputPlan, with added: [OutputInput: FeedLine], _ media: JobMedia) throws(LiveKitError) {
    let stage = try open(plan, at: nextPart)
    feed(added, media)
    for (input, line) in added { attach(line, input) }
    // Audio may be ahead of the video: what is written of it has its frames in the same part.
    let earliest = lines.leader?.requestKeyframe(from: media.length)
    takeOver(plan, in: stage, from: earliest)
    voices.withLock { $0.part = (stage, earliest ?? media.length) }
  }

  /// Asks again for the keyframe that a part for another voice begins with, which may have got lost.
  func askAgain() {
    let (waiting, reached) = (writer.waiting, writer.reached)
    let isDue = voices.withLock { voices -> Bool in
      guard let part = voices.part, part.stage === waiting, reached >= part.asked + Self.keyframePatience else {
        return false
      }
      voices.part?.asked = reached
      return true
    }
    if isDue { lines.leader?.requestKeyframe() }
  }
  private static let keyframePatience = Duration.seconds(1)

  /// Whether parts begin by themselves, and the next one may have a track of somebody more.
  func mayExpect(_ all: [Voice], _ media: JobMedia) -> Bool {
    guard sort.rotation != nil, planner.takesVoices, part(of: media) != nil else { return false }
    return max(plan.voices.count, voices.withLock { $0.all.count }) < all.count
  }

  /// Has the next part that begins by itself have a track of each. Parts may be too short for one to begin for them.
  /// - Parameter added: what feeds those that are new; it is taken from now on, so that it stays, and goes nowhere until then.
  func expect(_ all: [Voice], from added: [OutputInput: FeedLine]) {
    for (input, line) in added { attach(line, input) }
    voices.withLock { $0 = VoiceWait(all: all, lines: added, part: $0.part) }
  }

  /// - Throws: why a part that began by itself has no track of those who were to have one.
  func checkVoices() throws(LiveKitError) {
    if let refusal = voices.withLock({ $0.refusal }) { throw refusal }
  }

  /// Opens the part that begins by itself, with a track of each who waits for one.
  func openNext(from due: Duration, _ media: JobMedia) throws(LiveKitError) {
    // Somebody else may have been first. What other lines bring before the part is due goes on in this one, and the
    // next look tries again.
    guard writer.waiting == nil, !writer.isChangingLines else { return }
    // An encoder that is behind knows in time.
    defer { _ = lines[.video]?.requestKeyframe(from: due) }
    let (all, added) = voices.withLock { ($0.all, $0.lines) }
    guard !added.isEmpty else { return try takeOver(plan, at: nextPart, from: due) }
    var fuller = plan
    fuller.voices = all
    do throws(LiveKitError) {
      let stage = try open(fuller, at: nextPart)
      feed(added, media)
      takeOver(fuller, in: stage, from: due)
    } catch {
      // Parts go on as they are.
      voices.withLock { $0.refusal = error }
      try takeOver(plan, at: nextPart, from: due)
    }
  }

  private func feed(_ added: [OutputInput: FeedLine], _ media: JobMedia) {
    for (input, line) in added { lines.replace(input, by: line, media) }
    forgetVoices()
  }

  /// Has nobody wait for a track, and takes nothing more for those who do.
  func forgetVoices() {
    let waiting = voices.withLock { voices in
      defer { voices = VoiceWait() }
      return voices.lines
    }
    for (input, line) in waiting where lines[input] !== line { _ = line.remove(ObjectIdentifier(self)) }
  }
}

/// What those wait for who are to have a track of their own.
struct VoiceWait: Sendable {
  /// All who are to have one in the next part that begins by itself.
  var all: [Voice] = []
  /// What feeds those that are new.
  var lines: [OutputInput: FeedLine] = [:]
  /// Why that part was opened without them.
  var refusal: LiveKitError?
  /// The part that was opened for some of them, and when its keyframe was asked for last.
  var part: (stage: OutputStage, asked: Duration)?
}
