import Testing

@testable import Egress

/// What is written of a file of captions when another cue comes.
@Suite struct CaptionListTests {
  private func cue(_ start: Double) -> CaptionCue {
    CaptionCue(start: .seconds(start), end: .seconds(start + 3), speaker: "Alice", text: "word")
  }

  /// As where two speak at once for hours: written whole for each, it would be a hundred times as much as it holds.
  @Test func whatIsLongThereIsNotWrittenAgain() {
    var (list, file, written) = (CaptionList(), WebVTT.head, 0)
    let cues = (0..<500).map { cue(Double($0) + ($0.isMultiple(of: 2) ? 2 : 0.5)) }
    for cue in cues {
      switch list.insert(cue, isInStep: true) {
      case .whole(let text): (file, written) = (text, written + text.utf8.count)
      case .insertion(let text, let tail):
        #expect(file.hasSuffix(tail))
        file = String(file.dropLast(tail.count)) + text + tail
        written += text.utf8.count + tail.utf8.count
      }
    }
    #expect(file == WebVTT.file(of: cues.sorted { $0.start < $1.start }))
    #expect(written < 2 * file.utf8.count)
  }

  @Test func whatBeganLongBeforeTheOthersHasAllWrittenAnew() {
    var list = CaptionList()
    let later = (1...51).map { cue(Double($0)) }
    for cue in later { _ = list.insert(cue, isInStep: true) }
    #expect(list.insert(cue(0), isInStep: true) == .whole(WebVTT.file(of: [cue(0)] + later)))
    let second = cue(1.5)
    #expect(
      list.insert(second, isInStep: true) == .insertion(WebVTT.text(of: second), tail: WebVTT.text(of: later[1...])))
  }

  /// A disk was full.
  @Test func whatIsNotInTheFileComesWithTheNext() {
    var list = CaptionList()
    for start in [1.0, 2] { _ = list.insert(cue(start), isInStep: true) }
    #expect(list.insert(cue(3), isInStep: false) == .whole(WebVTT.file(of: [1.0, 2, 3].map(cue))))
  }
}
