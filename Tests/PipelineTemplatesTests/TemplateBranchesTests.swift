import Testing

@testable import PipelineTemplates

@Suite struct TemplateBranchesTests {
  private func filled(_ text: String) throws -> FilledTemplate {
    try Template(kind: .receive, name: "x", file: "x.pipeline", text: text).fill()
  }

  private let text = """
    appsrc name=rtp caps="application/x-rtp, media=video" ! tee name=media
    media. ! appsink name=encoded  media. ! video/x-raw,width=2 ! ${decoder:-vp8dec}
    ! appsink name="frames" sync=false
    """

  @Test func branchesArePartsOfTheTextAtTheirPlaces() throws {
    let filled = try filled(text)
    let encoded = try #require(filled.branch(endingIn: "encoded"))
    let frames = try #require(filled.branch(endingIn: "frames"))
    #expect(encoded.tee == "media" && frames.tee == "media")
    #expect(words(encoded.description) == "appsink name=encoded")
    #expect(words(frames.description) == #"video/x-raw,width=2 ! vp8dec ! appsink name="frames" sync=false"#)
    let trunk = filled.trunk(withoutBranches: ["encoded", "frames", "pcm"])
    #expect(words(trunk) == #"appsrc name=rtp caps="application/x-rtp, media=video" ! tee name=media"#)
    let offset = try #require(frames.description.utf8.firstIndex(of: UInt8(ascii: "v"))).utf16Offset(
      in: frames.description)
    #expect(filled.line(atOffset: offset) == 2)
  }

  @Test func aTextInOnePieceHasNone() throws {
    let filled = try filled("appsrc name=rtp ! vp8dec ! appsink name=frames")
    #expect(filled.branch(endingIn: "frames") == nil)
    #expect(filled.trunk(withoutBranches: ["frames"]) == filled.description)
  }

  @Test func aLinkBeforeTheFirstElementBelongsToNothing() throws {
    #expect(try filled("! name=x appsink name=frames").branch(endingIn: "frames") == nil)
  }

  @Test func aReferenceToNothingIsSaid() throws {
    let violation = try filled("appsrc name=rtp ! tee name=media other. ! appsink name=frames").contractViolation
    #expect(violation == "the branch to \"frames\" begins at \"other.\", and nothing is called other")
  }

  private func words(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

  /// What only a branch has changes nothing where that is not made.
  @Test func variablesAreOfBranchesOrNot() throws {
    let template = try Template(
      kind: .receive, name: "x", file: "x",
      text: """
        appsrc name=rtp ! rtpjitterbuffer name=jitter latency=${latency:-200} ! tee name=media
        media. ! queue ! appsink name=encoded
        media. ! decoder threads=${threads:-1} ! appsink name=frames
        """)
    #expect(template.variables(outsideBranches: ["frames", "pcm"]) == ["latency"])
    #expect(template.variables(outsideBranches: []) == ["latency", "threads"])
  }
}
