import Egress
import Foundation
import MediaBridge
import MediaCore

/// The frames of one participant for one reader.
final class FrameStream: RawStream, VideoRenderer, SizelessRenderer, PromptRenderer, Sendable {
  /// How long frames are waited for before the newest is repeated: a lost packet may be on its way again.
  private static let patience = Duration.milliseconds(600)

  private struct Source {
    var raw: RawSource
    var track: RemoteVideoTrack?
    /// Nil before the first frame of which the RTP timestamp is known.
    var time: StreamTime?
  }
  /// Guarded together, so that what is made is handed on in order.
  private struct Making {
    var maker: FrameMaker
    var outbox = Outbox<Batch>()
    /// Of those that the renderer was too slow for, what is missing at an even rate.
    var missing = PassedOverFrames()
  }
  private struct Progress {
    /// Of the frames that come, and of those that the reader gets.
    var size: Dimensions?
    var madeSize: Dimensions?
    var source: Source?
    var time = Duration.zero
    var hasBegun = false
    var failure: LiveKitError?
    /// What the renderers of tracks that have gone were too slow for.
    var passedOver = 0
  }

  /// What frames have become, and of which.
  private struct Batch: Sendable {
    var made: [FrameMaker.Made]
    var origin: FrameOrigin?
  }

  private let maker: Locked<Making>
  let output: any RawReceiver
  private let tally = RawTally()
  private let framing: RawFraming?
  private let info: InfoLog?
  private let number: Int
  /// Where a frame is copied once, and nobody is waited for. Waking another thread for it costs a third as much as the copy,
  /// which is slower there.
  let isPrompt: Bool
  /// What is asked of the server.
  private let wish: RawSession.Wish
  private let state = Locked(Progress())

  /// - Parameter number: of the stream among those of the command, from 1 on.
  init(_ request: FrameMaker.Request, output: any RawReceiver, isFramed: Bool, info: InfoLog?, number: Int) {
    maker = Locked(Making(maker: FrameMaker(request)))
    (self.output, self.info, self.number) = (output, info, number)
    isPrompt = request.isShared && request.format == .i420 && request.size == nil
    wish = RawSession.Wish(size: request.size, fps: request.fps)
    framing = isFramed ? RawFraming(number: number) : nil
    if isFramed { output.begin(header: []) }
  }

  // Where the renderers of a room decide how its tracks are sent.
  @MainActor var adaptiveStreamSize: CGSize {
    wish.size.map { CGSize(width: Int($0.width), height: Int($0.height)) } ?? .unbounded
  }
  @MainActor var adaptiveStreamFPS: UInt { wish.fps.map { UInt($0) } ?? 0 }

  var failure: LiveKitError? { output.failure ?? state.withLock { $0.failure } }
  var hasBegun: Bool { state.withLock { $0.hasBegun } }
  /// Whether it is to end by itself.
  var isLimited: Bool { maker.withLock { $0.maker.request.duration != nil } }
  var isDone: Bool { maker.withLock { $0.maker.isDone } }

  var report: RawReport {
    let ((written, dropped), passedOver) = (tally.counts, passedOver)
    let (late, missing) = maker.withLock { making in
      (making.maker.late, making.maker.request.fps == nil ? passedOver : making.missing.missing(of: passedOver))
    }
    let loss = RawLoss(.frames, dropped: dropped, passedOver: missing)
    return state.withLock { state in
      RawReport(
        name: output.name, written: written, dropped: dropped, passedOver: passedOver, late: late,
        duration: state.time.seconds, size: state.madeSize?.description, taker: output.taker,
        loss: output.keepsAll ? loss : nil)
    }
  }

  /// How many frames its renderers were too slow for.
  private var passedOver: Int {
    state.withLock { $0.passedOver + ($0.source?.track?.droppedFrames(of: self) ?? 0) }
  }

  // MARK: Tracks

  func attach(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) {
    endTrack()
    let source = Source(
      raw: RawSource(publication, of: participant), track: publication.track as? RemoteVideoTrack)
    state.withLock { $0.source = source }
    tell(source.raw)
    source.track?.add(videoRenderer: self)
  }

  private func tell(_ source: RawSource) {
    source.tell(number, start: maker.withLock { $0.maker.start }, info: info, framing, output)
  }

  func detach(_ publication: RemoteTrackPublication) {
    if state.withLock({ $0.source?.raw.publication === publication }) { endTrack() }
  }

  func stop() { endTrack() }

  private func endTrack() {
    guard let track = state.withLock({ $0.source?.track }) else { return }
    let passedOver = track.droppedFrames(of: self) ?? 0
    track.remove(videoRenderer: self)
    state.withLock { state in
      state.passedOver += passedOver
      state.source = nil
    }
  }

  func setMuted(_ isMuted: Bool, _ publication: RemoteTrackPublication) {
    info?.tell(isMuted ? "muted" : "unmuted", ["track": number, "sid": publication.sid])
  }

  // MARK: Frames

  func render(frame: VideoFrame) {
    do throws(LiveKitError) {
      noteSize(frame.uprightDimensions)
      let origin = state.withLock { $0.source }?.track?.origin(of: frame)
      let time = time(of: frame, origin)
      let earlier = passedOver
      let isMine = try maker.withLock { state throws(LiveKitError) in
        let made = try state.maker.take(frame, at: time)
        state.missing.noteRepeats(made.count { $0.isRepeated })
        state.missing.noteFrame(after: earlier)
        return state.outbox.add([Batch(made: made, origin: origin)])
      }
      if isMine { empty() }
    } catch { state.withLock { $0.failure = $0.failure ?? error } }
  }

  /// By the sender's clock, which is exact from one frame to the next, while our estimate of it settles.
  private func time(of frame: VideoFrame, _ origin: FrameOrigin?) -> MediaTime {
    state.withLock { state in
      if let origin, state.source?.time == nil { state.source?.time = StreamTime(rate: origin.clockRate) }
      return state.source?.time?.time(of: origin?.rtpTimestamp, estimate: frame.time) ?? frame.time
    }
  }

  func tick() {
    let isMine = maker.withLock { state in
      let made = state.maker.fill(upTo: .now - Self.patience)
      state.missing.noteRepeats(made.count)
      return state.outbox.add([Batch(made: made)])
    }
    if isMine { empty() }
  }

  /// A frame and its repetition are made by two threads.
  private func empty() {
    while let batches = maker.withLock({ $0.outbox.next() }) {
      for batch in batches { put(batch.made, batch.origin) }
    }
  }

  private func put(_ made: [FrameMaker.Made], _ origin: FrameOrigin?) {
    guard let size = made.first?.size else { return }
    let isFirst = state.withLock { state in
      (state.time, state.madeSize) = (made.last?.time ?? state.time, made.last?.size ?? state.madeSize)
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    if isFirst { begin(size) }
    for frame in made {
      let note = note(frame, frame.isRepeated ? nil : origin)
      switch frame.content {
      case .bytes(let bytes): output.put(RawPiece(.bytes(framed(bytes, frame)), made: .now, note: note))
      case .frame(let samples): output.put(samples, note: note)
      }
    }
  }

  /// Says again whose frames they are: now it is known when the first one is.
  private func begin(_ size: Dimensions) {
    if framing == nil { output.begin(header: maker.withLock { $0.maker.header(size) }) }
    if let source = state.withLock({ $0.source }) { return tell(source.raw) }
    // The mixed room is nobody's.
    if let start = maker.withLock({ $0.maker.start }) {
      info?.tell("track", ["track": number, "start": start.seconds])
    }
  }

  private func framed(_ bytes: [UInt8], _ frame: FrameMaker.Made) -> [UInt8] {
    guard let framing else { return bytes }
    let format = maker.withLock { $0.maker.request }.format.fourCharacters
    return framing.framed(bytes, as: format, Int(frame.size.width), Int(frame.size.height), at: frame.time)
  }

  private func note(_ frame: FrameMaker.Made, _ origin: FrameOrigin?) -> RawNote {
    guard info != nil else { return RawNote(fields: [:], tally: tally) }
    var fields: InfoFields = ["track": number, "time": frame.time.seconds, "size": frame.size.description]
    if frame.isRepeated { fields["repeated"] = true }
    if let origin { fields["rtp"] = Int(origin.rtpTimestamp) }
    if let captured = origin?.captured { fields["captured"] = captured.timeIntervalSince1970 }
    return RawNote(fields: fields, tally: tally)
  }

  private func noteSize(_ size: Dimensions) {
    guard state.set(\.size, to: size) else { return }
    info?.tell("size", ["track": number, "size": size.description])
  }
}
