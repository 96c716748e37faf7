import ParserExercises

typealias SeededRandom = ParserExercises.SeededRandom

/// Bytes from text such as `80 c9 00 01`; lines may end in `# a remark`.
func hex(_ text: String) -> [UInt8] { Corpus.bytes(hex: text) }
