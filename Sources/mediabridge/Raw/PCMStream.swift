import Egress
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore

/// The audio of one participant, or of several mixed, for one reader.
final class PCMStream: RawStream, Sendable {
  /// What is asked for.
  struct Request: Sendable {
    var format: PCMFormat
    var rate: Int
    var channels: Int
    var duration: Duration?
    /// Whether all who are there are heard, with all that they send.
    var isMixed = false

    /// In samples.
    var count: Int? { duration.map { SamplePlacer.position(of: $0, rate: rate) } }
    func header(bytes: Int?) -> [UInt8] { format.header(rate: rate, channels: channels, bytes: bytes) }
    /// In front of what is asked for.
    var header: [UInt8] { header(bytes: count.map { $0 * channels * format.width }) }
  }

  /// How long audio is waited for before it counts as silence: a lost packet may be on its way again, and a network
  /// stall. Longer where nobody else is kept waiting, shorter where none is to come.
  private static let patience = (
    alone: Duration.seconds(2), mixed: Duration.seconds(1), muted: Duration.milliseconds(600)
  )

  /// Of audio in a second, as a rule.
  private static let buffers = 50

  private struct State {
    var line: SampleLine
    var start: MediaTime?
    /// By the SID that the publication had when it was attached; a new session gives it another one.
    var taps: [String: Tap] = [:]
    var muted: Set<String> = []
    /// Whether all are muted, as it was said.
    var isSilent = false
    /// Buffers that the renderers of tracks that have gone were too slow for.
    var passedOver = 0
    var outbox = Outbox<Stretch>()

    /// What the only one who is heard said of a sample; nil where several are, or none.
    func origin(of sample: Int, rate: Int) -> (rtp: UInt32, captured: Date?)? {
      guard let start, taps.count == 1, let (sid, tap) = taps.first, !muted.contains(sid) else { return nil }
      return tap.line?.origin?.at(start + .seconds(Double(sample) / Double(rate)))
    }
  }
  private struct Stretch: Sendable {
    /// The number of its first sample.
    var first: Int
    var samples: [Float]
    var origin: (rtp: UInt32, captured: Date?)?
  }
  /// A track, and what takes its audio.
  private struct Tap {
    let renderer: AudioBufferHandler
    let track: RemoteAudioTrack
    let publication: RemoteTrackPublication
    let source: RawSource
    /// Nil before its first samples.
    var line: TapLine?
    /// When samples came last.
    var heard = MediaTime.now
    /// Buffers that the renderer was too slow for.
    var passedOver: Int { track.droppedBuffers(of: renderer) ?? 0 }
  }

  private let request: Request
  let output: any RawReceiver
  private let tally = RawTally()
  private let framing: RawFraming?
  private let info: InfoLog?
  private let number: Int
  private let state: Locked<State>

  /// - Parameter number: of the stream among those of the command, from 1 on.
  init(_ request: Request, output: any RawReceiver, isFramed: Bool, info: InfoLog?, number: Int) {
    (self.request, self.output, self.info, self.number) = (request, output, info, number)
    state = Locked(State(line: SampleLine(rate: request.rate, channels: request.channels)))
    framing = isFramed ? RawFraming(number: number) : nil
    output.begin(header: isFramed ? [] : request.header)
  }

  var failure: LiveKitError? { output.failure }
  var hasBegun: Bool { state.withLock { $0.start != nil } }
  var isDone: Bool { request.count.map { $0 <= state.withLock { $0.line.taken } } ?? false }

  var report: RawReport {
    let (written, dropped) = tally.counts
    return state.withLock { state in
      let passedOver = state.taps.values.reduce(state.passedOver) { $0 + $1.passedOver }
      let missing = passedOver * request.rate / Self.buffers
      let loss = RawLoss(.samples(rate: request.rate), dropped: dropped, passedOver: missing)
      return RawReport(
        name: output.name, written: written, dropped: dropped, passedOver: missing, late: state.line.late,
        duration: Double(state.line.taken) / Double(request.rate), taker: output.taker,
        loss: output.keepsAll ? loss : nil)
    }
  }

  // MARK: Tracks

  func attach(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) {
    guard let track = publication.track as? RemoteAudioTrack else { return }
    let (sid, source) = (publication.sid, RawSource(publication, of: participant))
    tell(source)
    let renderer = AudioBufferHandler { [weak self, weak track] buffer in
      self?.hear(buffer, track?.origin(of: buffer), of: sid)
    }
    state.withLock { state in
      state.taps[sid] = Tap(renderer: renderer, track: track, publication: publication, source: source)
      if !publication.isMuted { state.line.add(sid) }
    }
    note(sid, isMuted: publication.isMuted)
    track.add(audioRenderer: renderer)
  }

  private func tell(_ source: RawSource) {
    source.tell(
      number, start: state.withLock { $0.start }, info: info, framing, output, isMixed: request.isMixed)
  }

  private func sid(of publication: RemoteTrackPublication) -> String {
    state.withLock { $0.taps.first { $0.value.publication === publication }?.key } ?? publication.sid
  }

  func detach(_ publication: RemoteTrackPublication) {
    let sid = sid(of: publication)
    detach(sid)
    note(sid, isMuted: nil)
  }

  private func detach(_ sid: String) {
    guard let tap = state.withLock({ $0.taps.removeValue(forKey: sid) }) else { return }
    let passedOver = tap.passedOver
    tap.track.remove(audioRenderer: tap.renderer)
    state.withLock { state in
      state.passedOver += passedOver
      state.line.remove(sid)
    }
  }

  /// Says when all are muted, or not any more, as LiveKit's track egress does of its only one.
  /// - Parameter isMuted: nil for one who has gone.
  private func note(_ sid: String, isMuted: Bool?) {
    let news = state.withLock { state -> Bool? in
      if isMuted == true { state.muted.insert(sid) } else { state.muted.remove(sid) }
      // Of nobody there is nothing to say.
      if state.taps.isEmpty { return nil }
      let isSilent = state.muted.isSuperset(of: state.taps.keys)
      defer { state.isSilent = isSilent }
      return isSilent == state.isSilent ? nil : isSilent
    }
    if let news { output.put(RawPiece(.text("{\"muted\":\(news)}"), made: .now)) }
  }

  /// Nobody waits for who is muted.
  func setMuted(_ isMuted: Bool, _ publication: RemoteTrackPublication) {
    info?.tell(isMuted ? "muted" : "unmuted", ["track": number, "sid": publication.sid])
    let sid = sid(of: publication)
    note(sid, isMuted: isMuted)
    if isMuted { state.withLock { $0.line.remove(sid) } }
  }

  // MARK: Samples

  private func hear(_ buffer: AudioPCMBuffer, _ origin: FrameOrigin?, of sid: String) {
    put { [request] state in
      var line = state.taps[sid]?.line ?? TapLine(request, clockRate: origin?.clockRate)
      state.line.add(sid)
      for piece in line?.convert(buffer, origin) ?? [] {
        let start = state.start ?? piece.time
        state.start = start
        _ = piece.buffer.withFloatSamples { state.line.write(Array($0), of: sid, at: piece.time - start) }
      }
      state.taps[sid]?.line = line
      state.taps[sid]?.heard = .now
      return state.line.ready
    }
  }

  func tick() {
    put { [rate = request.rate] state in
      guard let start = state.start else { return 0 }
      // What a server sends of them for a moment, so that decoders end in silence, has come to its end.
      for sid in state.muted where state.taps[sid].map({ .now - $0.heard >= Self.patience.muted }) ?? true {
        state.line.remove(sid)
      }
      let voices = state.line.voiceCount
      let patience = voices == 0 ? Self.patience.muted : voices == 1 ? Self.patience.alone : Self.patience.mixed
      return SamplePlacer.position(of: .now - start - patience, rate: rate)
    }
  }

  /// Writes what is known to be complete.
  private func put(_ ready: (inout State) -> Int) {
    let isMine = state.withLock { state in
      let first = state.line.taken
      let samples = state.line.take(upTo: min(ready(&state), request.count ?? .max))
      let origin = state.origin(of: first, rate: request.rate)
      return state.outbox.add(samples.isEmpty ? [] : [Stretch(first: first, samples: samples, origin: origin)])
    }
    // Each track has a thread of its own.
    while isMine, let stretches = state.withLock({ $0.outbox.next() }) {
      for stretch in stretches { put(stretch) }
    }
  }

  private func put(_ stretch: Stretch) {
    let (first, samples) = (stretch.first, stretch.samples)
    if first == 0 { begin() }
    var bytes = request.format.bytes(of: samples)
    if let framing {
      let time = Duration.nanoseconds(Int64(Double(first) / Double(request.rate) * 1e9))
      let format = request.format == .f32le ? "f32" : "s16"
      bytes = framing.framed(bytes, as: format, request.rate, request.channels, at: time)
    }
    output.put(RawPiece(.bytes(bytes), made: .now, note: note(stretch)))
  }

  /// Says again whose samples they are: now it is known when the first one is.
  private func begin() {
    for tap in state.withLock({ $0.taps.values.map(\.source) }) { tell(tap) }
  }

  private func note(_ stretch: Stretch) -> RawNote {
    let count = stretch.samples.count / request.channels
    var fields: InfoFields = [
      "track": number, "time": Double(stretch.first) / Double(request.rate), "sample": stretch.first, "count": count,
    ]
    if let rtp = stretch.origin?.rtp { fields["rtp"] = Int(rtp) }
    if let captured = stretch.origin?.captured { fields["captured"] = captured.timeIntervalSince1970 }
    return RawNote(fields: fields, count: count, tally: tally)
  }

  func stop() {
    for sid in state.withLock({ Array($0.taps.keys) }) { detach(sid) }
    // Of others nothing more is waited for.
    put { $0.line.heard }
  }
}
