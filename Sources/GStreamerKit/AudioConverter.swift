import CGStreamer
public import MediaCore

/// Brings a stream of audio into one format: sample rate, channels and kind of sample.
///
/// Resampling looks at the audio around each sample, so a converter belongs to one stream, whose buffers it is given
/// in order, by one thread at a time. The newest millisecond or so comes out with the buffer after it.
public final class AudioConverter {
  /// Samples, and when the first frame of them is to be heard.
  public typealias Piece = (buffer: AudioBuffer, time: MediaTime)

  /// A jump of the stream's times that is not jitter: what came before it is finished, and what follows begins anew.
  private static let largestJump = Duration.milliseconds(10)
  private static let channels = 1...8
  private static let rates = 1000...768_000

  /// What comes out.
  public let format: AudioBuffer.Format
  private var stream: ConvertedStream?

  /// Nil for a format that cannot be made: neither `s16` nor `f32`, not 1…8 channels, or not 1000…768 000 Hz.
  public init?(to format: AudioBuffer.Format) {
    guard format.sampleFormat == .s16 || format.sampleFormat == .f32, Self.channels.contains(format.channelCount),
      Self.rates.contains(format.sampleRate)
    else { return nil }
    self.format = format
  }

  /// The audio of `buffer` as far as it can be told by now, in the order of its time.
  ///
  /// - Parameter time: of the buffer's first frame.
  /// - Returns: mostly one piece, with the time of its first frame; none while there is too little to resample, two
  ///   where the stream jumps or changes its format; `buffer` itself when it is of this format. None, too, for audio
  ///   that cannot be converted.
  public func convert(_ buffer: AudioBuffer, at time: MediaTime) -> [Piece] {
    var pieces: [Piece] = []
    if let stream, !stream.continues(with: buffer, at: time, tolerance: Self.largestJump) {
      if let rest = stream.finish() { pieces.append(rest) }
      self.stream = nil
    }
    if buffer.format == format { return pieces + [(buffer, time)] }
    if stream == nil { stream = ConvertedStream(from: buffer, to: format) }
    if let piece = stream?.convert(buffer, at: time) { pieces.append(piece) }
    return pieces
  }
}

/// Audio without a jump on its way through GStreamer's converter.
private final class ConvertedStream {
  private let input: AudioBuffer.Format
  private let converter: OpaquePointer
  private let output: MediaFormat
  private let bytesPerFrame: Int
  private var lag: ResamplingLag
  /// When the frame after the newest one begins.
  private var end: MediaTime?

  init?(from buffer: AudioBuffer, to format: AudioBuffer.Format) {
    input = buffer.format
    var (source, target) = (buffer.info.positioned, GstAudioInfo(format))
    let resampling = gst_structure_new_empty("resampling")
    gst_audio_resampler_options_set_quality(
      GST_AUDIO_RESAMPLER_METHOD_KAISER, ConvertedStream.quality, source.rate, target.rate, resampling)
    // Takes `resampling` over.
    guard let converter = gst_audio_converter_new(GST_AUDIO_CONVERTER_FLAG_NONE, &source, &target, resampling) else {
      return nil
    }
    self.converter = converter
    output = MediaFormat(Caps(adopting: gst_audio_info_to_caps(&target)))
    bytesPerFrame = Int(target.bpf)
    lag = ResamplingLag(from: input.sampleRate, to: format.sampleRate)
  }

  deinit { gst_audio_converter_free(converter) }

  /// GStreamer's own default of 0…10.
  private static let quality: guint = 4

  func continues(with buffer: AudioBuffer, at time: MediaTime, tolerance: Duration) -> Bool {
    guard buffer.format == input else { return false }
    guard let end else { return true }
    return abs((time - end).nanoseconds) <= tolerance.nanoseconds
  }

  func convert(_ buffer: AudioBuffer, at time: MediaTime) -> AudioConverter.Piece? {
    buffer.withFrames { frames, count in
      end = time + .frames(count, rate: input.sampleRate)
      return convert(frames, count, at: time)
    } ?? nil
  }

  /// What the resampler still holds, brought out by as much silence.
  func finish() -> AudioConverter.Piece? {
    end.flatMap { convert(nil, Int(gst_audio_converter_get_max_latency(converter)), at: $0) }
  }

  private func convert(_ frames: UnsafeMutableRawPointer?, _ count: Int, at time: MediaTime) -> AudioConverter.Piece? {
    let made = Int(gst_audio_converter_get_out_frames(converter, gsize(count)))
    guard let buffer = newBuffer(gsize(made * bytesPerFrame)) else { return nil }
    defer { gst_buffer_unref(buffer) }
    guard fill(buffer, made, from: frames, count) else { return nil }
    let start = time - lag.duration
    lag.advance(consumed: count, produced: made)
    guard made > 0 else { return nil }
    buffer.pointee.pts = MediaTime?(start).clockTime
    buffer.pointee.duration = GstClockTime(Duration.frames(made, rate: lag.outputRate).nanoseconds)
    return AudioBuffer(MediaBuffer(retaining: buffer, format: output, shift: 0)).map { ($0, start) }
  }

  private func fill(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ made: Int, from frames: UnsafeMutableRawPointer?, _ count: Int
  ) -> Bool {
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_WRITE) != 0 else { return false }
    defer { gst_buffer_unmap(buffer, &map) }
    var output: gpointer? = UnsafeMutableRawPointer(map.data)
    guard let frames else {
      return gst_audio_converter_samples(
        converter, GST_AUDIO_CONVERTER_FLAG_NONE, nil, gsize(count), &output, gsize(made)) != 0
    }
    var input: gpointer? = frames
    return gst_audio_converter_samples(
      converter, GST_AUDIO_CONVERTER_FLAG_NONE, &input, gsize(count), &output, gsize(made)) != 0
  }
}

/// How far the frames that came out of a resampler are behind those that went in. Counted in whole frames, so that
/// nothing adds up over the hours.
struct ResamplingLag {
  let inputRate: Int
  let outputRate: Int
  private var consumed = 0
  private var produced = 0

  init(from inputRate: Int, to outputRate: Int) {
    self.inputRate = inputRate
    self.outputRate = outputRate
  }

  mutating func advance(consumed: Int, produced: Int) {
    self.consumed += consumed
    self.produced += produced
    // Both stand for the same second.
    let seconds = min(self.consumed / inputRate, self.produced / outputRate)
    self.consumed -= seconds * inputRate
    self.produced -= seconds * outputRate
  }

  /// Time from the next frame out to the next frame in.
  var duration: Duration { .frames(consumed, rate: inputRate) - .frames(produced, rate: outputRate) }
}

extension Duration {
  /// How long that many frames last, to the nanosecond below.
  static func frames(_ count: Int, rate: Int) -> Duration {
    .nanoseconds(count / rate * 1_000_000_000 + count % rate * 1_000_000_000 / rate)
  }
}

extension GstAudioInfo {
  fileprivate init(_ format: AudioBuffer.Format) {
    let kind = format.sampleFormat == .s16 ? GST_AUDIO_FORMAT_S16LE : GST_AUDIO_FORMAT_F32LE
    self = .inUsualOrder(kind, rate: gint(format.sampleRate), channels: gint(format.channelCount))
  }

  /// The channels of audio that does not say which they are are taken for the usual ones: nothing can be mixed
  /// otherwise.
  fileprivate var positioned: GstAudioInfo {
    guard flags.rawValue & GST_AUDIO_FLAG_UNPOSITIONED.rawValue != 0, let finfo else { return self }
    return .inUsualOrder(finfo.pointee.format, rate: rate, channels: channels)
  }

  private static func inUsualOrder(_ format: GstAudioFormat, rate: gint, channels: gint) -> GstAudioInfo {
    var info = GstAudioInfo()
    var positions = [GstAudioChannelPosition](repeating: GST_AUDIO_CHANNEL_POSITION_NONE, count: 64)
    let hasMask = channels > 2 && channels <= 8
    if hasMask {
      gst_audio_channel_positions_from_mask(channels, gst_audio_channel_get_fallback_mask(channels), &positions)
    }
    // Without positions one channel is mono, and two are left and right.
    gst_audio_info_set_format(&info, format, rate, channels, hasMask ? positions : nil)
    return info
  }
}
