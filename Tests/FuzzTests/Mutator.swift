import ParserExercises

/// Makes inputs out of seeds: bits flipped, bytes set to edges, cut, grown, two joined; or noise.
struct Mutator {
  private var random: SeededRandom
  private let seeds: [[UInt8]]

  init(seeds: [[UInt8]], seed: UInt64) {
    self.seeds = seeds
    random = SeededRandom(seed: seed)
  }

  mutating func next() -> [UInt8] {
    if random.chance(0.05) { return random.bytes(Int.random(in: 0...80, using: &random)) }
    var bytes = seeds[Int.random(in: 0..<seeds.count, using: &random)]
    for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&bytes) }
    return bytes
  }

  private mutating func mutate(_ bytes: inout [UInt8]) {
    guard !bytes.isEmpty else {
      bytes = random.bytes(4)
      return
    }
    let index = Int.random(in: 0..<bytes.count, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
    case 1: bytes[index] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &random) ?? 0
    case 2: bytes[index] = .random(in: 0...255, using: &random)
    case 3: bytes.removeSubrange(index...)
    case 4: bytes.insert(contentsOf: random.bytes(Int.random(in: 1...8, using: &random)), at: index)
    default: bytes += seeds[Int.random(in: 0..<seeds.count, using: &random)]
    }
  }
}
