import Bitstream

extension Exercise {
  /// The same units through every codec. The first one is H.264's configuration record, too.
  func bitstream(_ steps: Steps) -> Int {
    let units = steps.map(\.bytes)
    return VideoCodec.allCases.reduce(0) { $0 + follow(units, $1) }
  }

  /// - Returns: how many frames could be made.
  private func follow(_ units: [[UInt8]], _ codec: VideoCodec) -> Int {
    let blank = units.count { $0.withUnsafeBytes { codec.beginsBlankFrame($0) } }
    guard var maker = RepeatFrameMaker(codec: codec) else { return blank }
    units.first?.withUnsafeBytes { maker.configure($0) }
    for unit in units { unit.withUnsafeBytes { maker.follow($0) } }
    let repeated = maker.repeatFrame()
    guard let black = maker.blackKeyframe() else { return blank + (repeated == nil ? 0 : 1) }
    black.withUnsafeBytes { maker.follow($0) }
    let again = maker.repeatFrame()
    // What repeats an H.264 frame may be longer than the record's lengths can say.
    precondition(again?.isLastShown ?? (codec == .h264), "a keyframe of ours cannot be repeated")
    return blank + (repeated == nil ? 1 : 2)
  }
}
