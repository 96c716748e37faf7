package import MediaCore

/// The files for which a command is still to be run, one after the other, and whether that takes too long. Pure.
package struct CompletionBacklog: Sendable {
  /// What is told of it.
  package struct News: Sendable, Equatable {
    /// For which the command runs.
    package var file: String
    /// How many files wait behind it.
    package var waiting: Int
    /// How long it has run.
    package var running: Duration
  }

  /// A command that takes longer may hang.
  package static let patience = Duration.seconds(60)
  /// A command that is slower than files come falls behind more and more.
  private static let most = 10

  /// The first one is at work.
  private var files: [String] = []
  /// Since when; nil where it is about to begin.
  private var begun: MediaTime?
  private var isTold = false

  package init() {}

  /// The file at work, and how many there are with it; nil where nothing is left.
  package var rest: (file: String, left: Int)? { files.first.map { (file: $0, left: files.count) } }

  package mutating func add(_ new: [String]) { files += new }

  /// The command begins for the first file.
  package mutating func begin(at now: MediaTime) { begun = now }

  /// It has ended.
  package mutating func end() {
    if !files.isEmpty { files.removeFirst() }
    begun = nil
    if files.isEmpty { isTold = false }
  }

  /// - Returns: what is to be told, once until all are through.
  package mutating func news(at now: MediaTime) -> News? {
    guard !isTold, let file = files.first else { return nil }
    let news = News(file: file, waiting: files.count - 1, running: begun.map { now - $0 } ?? .zero)
    isTold = news.waiting > Self.most || news.running >= Self.patience
    return isTold ? news : nil
  }
}
