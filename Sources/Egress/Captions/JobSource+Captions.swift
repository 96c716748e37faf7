import MediaBridge
import MediaCore

// What is transcribed while the job runs, for the destinations that are to have it.
extension JobSource {
  func noteTranscription(_ event: RoomEvent) {
    guard asked.captions, let run, let (speaker, segments) = transcription(in: event) else { return }
    let now = MediaTime.now
    for segment in segments {
      let cue = job.captions.note(segment, of: speaker, at: run.job.media.age(at: now)) {
        run.job.media.placed(now - $0)
      }
      if let cue { write(cue, run) }
    }
  }

  /// What is said by somebody who is recorded, while the job is active; nil of other events.
  func transcription(in event: RoomEvent) -> (speaker: Captions.Speaker, segments: [TranscriptionSegment])? {
    guard case .transcriptionReceived(let participant?, _, let segments) = event, run?.isActive == true,
      isRecorded(participant)
    else { return nil }
    let speaker = Captions.Speaker(
      identity: participant.identity ?? participant.sid, name: participant.name ?? participant.identity ?? "")
    return (speaker, segments)
  }

  private func isRecorded(_ participant: Participant) -> Bool {
    if let identity { return participant.identity == identity }
    return (participant as? RemoteParticipant).map(counts) ?? false
  }

  /// Takes what its sender has not ended, and writes what is due.
  /// - Parameter isOver: whether nothing comes any more.
  func advanceCaptions(isOver: Bool = false) {
    guard asked.captions, let run, run.isActive else { return }
    for cue in job.captions.end(at: jobAge, isOver: isOver) { write(cue, run) }
    let (oldest, end) = (job.captions.oldestStart, isOver ? run.job.media.length : nil)
    for output in run.outputs {
      output.captions?.advance(to: isOver ? nil : output.writer.reached, oldest: oldest, end: output.end ?? end)
    }
  }

  /// In a file of several, text without marks says whose it is. What is said behind its end is in no file.
  private func write(_ cue: CaptionCue, _ run: JobRun) {
    for output in run.outputs where output.end.map({ cue.start < $0 }) ?? true {
      output.captions?.add(cue, naming: identity == nil)
    }
  }
}
