import MediaBridge
import MediaCore

// The beginning and the end of what mixes, and whether it does.
extension RoomComposite {
  /// Mixes from the first publication on, which is ahead of its first frame: until then nobody is there to be mixed.
  /// - Returns: whether it mixes.
  func startMixing() -> Bool {
    guard !mixing.isStarted, !members.wanted.isEmpty, let mix = mixing.mix else { return mixing.isStarted }
    do throws(LiveKitError) { try mix.start() } catch {
      mixing.fail(error)
      return false
    }
    mixing.isStarted = true
    return true
  }

  /// Tells of what brings nothing any more, and of what was taken out and does not stop.
  func watchMixing() {
    guard mixing.isStarted, !job.isFinished else { return }
    for kind in mixing.standstill.look(at: options.kinds, mixing.gate.newest, now: .now) {
      let seconds = Int(StandstillWatch.patience.seconds)
      note(kind, "mix/\(kind)", "nothing has been mixed for \(seconds) s: an element of the template mix/\(kind) hangs")
    }
    noteHanging()
  }

  private func noteHanging() {
    for kind in mixing.scene?.stopping.takeHanging(at: .now) ?? [] {
      note(kind, "tile/\(kind)", "an element of the template tile/\(kind) does not stop; what hangs is left behind")
    }
  }

  /// - Parameter part: stands for the id of a track.
  private func note(_ kind: Track.Kind, _ part: String, _ reason: String) {
    note(Omission(sid: part, kind: kind, source: .unknown, participant: "", reason: reason, wasWanted: true))
  }

  /// What was before the end is still being mixed.
  func stopArriving(at end: MediaTime) async {
    await awaitMix(until: end)
    await countPackets()
    members.voices.stop()
    await endRenewals()
    mixing.scene?.clear()
    await awaitStopping()
    await mixing.mix?.stop()
  }

  /// What hangs is left behind, and what was written is completed all the same.
  private func awaitStopping() async {
    while mixing.scene?.stopping.isEmpty == false {
      noteHanging()
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  /// What takes too long is missing, which is said.
  private func awaitMix(until end: MediaTime) async {
    mixing.gate.close(at: end)
    let limit = max(end, .now) + mixing.patience
    while run?.isActive == true, sourceFailure == nil, run?.failure == nil {
      let missing = mixing.gate.missing(of: options.kinds)
      guard !missing.isEmpty else { return }
      guard .now < limit else { return noteUnmixed(missing) }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  private func noteUnmixed(_ missing: [Track.Kind: Duration]) {
    for (kind, rest) in missing {
      let seconds = (rest.seconds * 10).rounded(.up) / 10
      note(kind, "", "the last \(seconds) s were not mixed in time, since the machine is too slow")
    }
  }
}
