/// Follows H.264 access units as far as needed to repeat a frame, and to make a black one.
struct H264Stream: RepeatableStream {
  /// A parameter set as it came.
  private struct Stored<Parameters: Sendable>: Sendable {
    let parameters: Parameters
    let nal: [UInt8]
  }

  private var lengthSize: Int?
  private var sequences: [Int: Stored<H264SequenceParameters>] = [:]
  private var pictures: [Int: Stored<H264PictureParameters>] = [:]
  /// The last picture; nil when nothing can follow it.
  private var last: H264SliceHeader?
  /// The parameter sets of the newest picture that could be read, and the number of its IDR picture, if it is one.
  private var used: (pictureID: Int, idrID: Int?)?
  /// Whether the reference that a P slice finds first is the newest one that was shown.
  private var isReferenceUsable = false

  /// ISO/IEC 14496-15, 5.3.3.1.
  mutating func configure(_ record: UnsafeRawBufferPointer) {
    guard record.count > 5, record[0] == 1 else { return }
    lengthSize = Int(record[4] & 3) + 1
    var offset = 5
    for mask: UInt8 in [0x1f, 0xff] {
      guard offset < record.count else { return }
      let count = record[offset] & mask
      offset += 1
      for _ in 0..<count {
        guard offset + 2 <= record.count else { return }
        let length = Int(record[offset]) << 8 | Int(record[offset + 1])
        offset += 2
        guard length <= record.count - offset else { return }
        store(UnsafeRawBufferPointer(rebasing: record[offset..<(offset + length)]))
        offset += length
      }
    }
  }

  mutating func follow(_ unit: UnsafeRawBufferPointer) {
    guard let lengthSize else { return }
    var hasPicture = false
    for nal in H264NALUnits(unit, lengthSize: lengthSize) {
      switch H264NALType(firstByte: nal[0]) {
      case .slice, .idrSlice:
        if !hasPicture { follow(slice: nal) }
        hasPicture = true
      case let type where H264NALType.partitions.contains(type): loseTrack()
      default: store(nal)
      }
    }
  }

  private mutating func follow(slice nal: UnsafeRawBufferPointer) {
    do {
      let header = try H264SliceHeader(nal, sets: parameterSets)
      last = header
      used = (header.pictureID, header.idrID ?? used?.idrID)
      switch header.marking {
      case .none: break
      case .shortTerm, .onlyLongTerm: isReferenceUsable = true
      case .irregular: isReferenceUsable = false
      }
    } catch {
      loseTrack()
    }
  }

  private mutating func loseTrack() {
    last = nil
    isReferenceUsable = false
  }

  private mutating func store(_ nal: UnsafeRawBufferPointer) {
    guard let first = nal.first else { return }
    switch H264NALType(firstByte: first) {
    case .sequenceParameters:
      let payload = H264Payload.read(nal)
      guard let set = try? H264SequenceParameters(payload) else { return sequences.removeAll() }
      sequences[set.id] = Stored(parameters: set, nal: Array(nal))
    case .pictureParameters:
      guard let set = try? H264PictureParameters(H264Payload.read(nal)) else { return pictures.removeAll() }
      pictures[set.id] = Stored(parameters: set, nal: Array(nal))
    default: break
    }
  }

  private func parameterSets(
    _ id: Int
  ) throws(UnreadableStream) -> (H264SequenceParameters, H264PictureParameters) {
    guard let picture = pictures[id]?.parameters, let sequence = sequences[picture.sequenceID]?.parameters else {
      throw UnreadableStream()
    }
    return (sequence, picture)
  }

  func repeatFrame() -> RepeatFrame? {
    guard let lengthSize, let last, isReferenceUsable, let (sequence, picture) = try? parameterSets(last.pictureID)
    else { return nil }
    // Some decoders tell pictures apart by numbers that are the same in all repeat frames: the delimiter says it too.
    let slice = H264RepeatSlice(sequence: sequence, picture: picture, last: last)
    return unit([[H264NALType.delimiter.rawValue, 0xf0], slice.nal], lengthSize).map {
      RepeatFrame(bytes: $0, isLastShown: last.marking != .none)
    }
  }

  /// A black IDR picture of the size of the last one; nil before that, and where samples are coded in other ways.
  func blackKeyframe() -> [UInt8]? {
    guard let lengthSize, let used, let picture = pictures[used.pictureID],
      let sequence = sequences[picture.parameters.sequenceID]
    else { return nil }
    let idrID = used.idrID == Self.unusualID ? 1 : Self.unusualID
    let slice = H264BlackSlice(sequence: sequence.parameters, picture: picture.parameters, idrID: idrID)
    guard slice.isSupported else { return nil }
    // With its parameter sets, as the sender's keyframes: those at the file's head may be of another size.
    return unit([[H264NALType.delimiter.rawValue, 0x10], sequence.nal, picture.nal, slice.nal], lengthSize)
  }

  /// Encoders count their own up from 0.
  private static let unusualID = 65_534

  private func unit(_ nals: [[UInt8]], _ lengthSize: Int) -> [UInt8]? {
    guard nals.allSatisfy({ $0.count < 1 << (8 * lengthSize) }) else { return nil }
    return nals.flatMap { nal in
      (0..<lengthSize).reversed().map { UInt8(truncatingIfNeeded: nal.count >> (8 * $0)) } + nal
    }
  }
}
