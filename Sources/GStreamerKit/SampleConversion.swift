import CGStreamer

extension AudioBuffer {
  /// Writes all samples as 32-bit floats of -1…1: into one plane side by side, or into a plane for each channel.
  ///
  /// 16-bit samples are divided by 32 768, so that nothing is lost.
  /// - Parameter planes: one with room for `frameCount * channelCount` samples, or `channelCount` with room for
  ///   `frameCount` each.
  /// - Returns: false when the samples cannot be read or are of a kind that cannot be converted; nothing is written.
  public func writeFloats(to planes: [UnsafeMutablePointer<Float>]) -> Bool {
    write(GST_AUDIO_FORMAT_F32LE, to: planes.map { UnsafeMutableRawPointer($0) })
  }

  /// As `writeFloats(to:)`, as signed 16-bit samples; floats beyond -1…1 become the nearest that there are.
  public func writeInt16s(to planes: [UnsafeMutablePointer<Int16>]) -> Bool {
    write(GST_AUDIO_FORMAT_S16LE, to: planes.map { UnsafeMutableRawPointer($0) })
  }

  private func write(_ format: GstAudioFormat, to planes: [UnsafeMutableRawPointer]) -> Bool {
    precondition(planes.count == 1 || planes.count == channelCount, "one plane, or one for each channel")
    // 64 positions is all that the description has room for.
    guard let kind = info.finfo?.pointee.format, channelCount <= 64 else { return false }
    // Which channel is which does not matter: they stay what they are.
    var (source, target) = (info.unpositioned(kind), info.unpositioned(format))
    if planes.count > 1 { target.layout = GST_AUDIO_LAYOUT_NON_INTERLEAVED }
    guard let converter = gst_audio_converter_new(GST_AUDIO_CONVERTER_FLAG_NONE, &source, &target, nil) else {
      return false
    }
    defer { gst_audio_converter_free(converter) }
    return withFrames { frames, count in
      var (input, output) = (frames, planes.map { Optional($0) })
      return gst_audio_converter_samples(
        converter, GST_AUDIO_CONVERTER_FLAG_NONE, &input, gsize(count), &output, gsize(count)) != 0
    } ?? false
  }

  /// Runs `body` with the interleaved samples and the number of frames that are really there, of which GStreamer's
  /// converters do not write although they take it as writable.
  /// - Returns: nil when the memory cannot be read.
  func withFrames<Result>(_ body: (UnsafeMutableRawPointer?, Int) -> Result) -> Result? {
    media.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      return body(UnsafeMutableRawPointer(mutating: start), bytes.count / max(Int(info.bpf), 1))
    }
  }
}

extension GstAudioInfo {
  fileprivate func unpositioned(_ format: GstAudioFormat) -> GstAudioInfo {
    var info = GstAudioInfo()
    let positions = [GstAudioChannelPosition](repeating: GST_AUDIO_CHANNEL_POSITION_NONE, count: 64)
    gst_audio_info_set_format(&info, format, rate, channels, positions)
    return info
  }
}
