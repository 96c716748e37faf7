import Testing

@testable import PipelineTemplates

@Suite struct RepeatedInputTests {
  private func filled(_ text: String) throws -> FilledTemplate {
    try Template(kind: .output, name: "x", file: "x.pipeline", text: text).fill()
  }

  private let text = """
    matroskamux name=mux ! fakesink
    appsrc name=audio-N max-buffers=10 caps="audio/x-opus, note=NO-NEWS"
    ! queue name=wait_N ! mux.audio_N
    appsrc name=audio ! mux.audio_0
    """

  @Test func itIsThereOnceForEach() throws {
    let filled = try filled(text)
    let one = filled.description(withAudio: [2])
    #expect(one == filled.description.replacing("audio-N", with: "audio-2").replacing("_N", with: "_2"))
    let more = try self.filled(filled.description(withAudio: [2, 3, 12]))
    #expect(
      more.elements.compactMap(\.name) == [
        "mux", "audio-2", "wait_2", "audio", "audio-3", "wait_3", "audio-12", "wait_12",
      ])
    #expect(more.description.hasSuffix("! queue name=wait_12 ! mux.audio_12"))
    #expect(more.caps(ofElement: "audio-12")?.formats.first?.fields == ["note": ["NO-NEWS"]])
  }

  @Test func withoutNumbersItIsNotThereAndAllElseStaysInItsPlace() throws {
    let filled = try filled(text)
    let none = filled.description(withAudio: [])
    #expect(!none.contains("N ") && none.utf8.count == filled.description.utf8.count)
    #expect(none.hasSuffix("appsrc name=audio ! mux.audio_0"))
    let plain = try self.filled("appsrc name=audio ! fakesink name=x-N")
    #expect(plain.description(withAudio: [2, 3]) == plain.description)
  }

  @Test func captionsAreThereWhereTheyAreAskedFor() throws {
    let filled = try filled(text + "\nappsrc name=captions caps=\"text/x-raw\" ! mux.subtitle_0")
    let without = filled.description(withAudio: [])
    #expect(!without.contains("captions") && !without.contains("subtitle"))
    #expect(without.utf8.count == filled.description.utf8.count)
    #expect(filled.description(withAudio: [], captions: true).hasSuffix("! mux.subtitle_0"))
    #expect(filled.description(withAudio: [2, 3]).hasSuffix("! queue name=wait_3 ! mux.audio_3"))
  }
}
