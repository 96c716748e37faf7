import MediaCore
import Testing

@testable import Egress

/// When a command for complete files is said to be behind.
@Suite struct CompletionBacklogTests {
  private let begin = MediaTime.now

  @Test func manyThatWaitAreToldOnceUntilAllAreThrough() {
    var backlog = CompletionBacklog()
    for _ in 0..<2 {
      backlog.add((0...10).map { "\($0).ts" })
      backlog.begin(at: begin)
      var news = backlog.news(at: begin + .seconds(3))
      #expect(news == nil, "ten wait")
      backlog.add(["11.ts"])
      news = backlog.news(at: begin + .seconds(3))
      #expect(news == CompletionBacklog.News(file: "0.ts", waiting: 11, running: .seconds(3)))
      backlog.end()
      backlog.add(["12.ts", "13.ts"])
      news = backlog.news(at: begin + .seconds(90))
      #expect(news == nil, "it is known")
      #expect(backlog.rest?.file == "1.ts" && backlog.rest?.left == 13)
      for _ in 0..<13 { backlog.end() }
      #expect(backlog.rest?.left == nil)
    }
  }

  @Test func oneThatMayHangIsTold() {
    var backlog = CompletionBacklog()
    backlog.add(["a.mp4", "b.mp4"])
    backlog.begin(at: begin)
    var news = backlog.news(at: begin + .seconds(59))
    #expect(news == nil)
    news = backlog.news(at: begin + .seconds(60))
    #expect(news == CompletionBacklog.News(file: "a.mp4", waiting: 1, running: .seconds(60)))
  }
}
