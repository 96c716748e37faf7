import MediaCore

/// What comes for a file within a short time, to be written together: a multiplexer's threads wake for each buffer that
/// comes one by one, and wake each other, which costs more than what they do with it.
///
/// Pure. What waits is written once more comes, or at the end, so whoever writes a file makes sure that something comes.
struct WriteBatch<Buffer> {
  /// How much media of one input waits at most, which is no more than how late it is written.
  static var span: Duration { .milliseconds(200) }
  /// Buffers of an input that wait at most, however short they are.
  static var limit: Int { 64 }

  private struct Waiting {
    let begin: Duration
    var buffers: [Buffer]
  }

  private let limit: Int
  /// Inputs of which something has been written.
  private var begun: Set<String> = []
  private var waiting: [String: Waiting] = [:]

  /// - Parameter limit: how many buffers of an input may wait; with one or none nothing does.
  init(limit: Int) { self.limit = min(limit, Self.limit) }

  /// How many buffers wait for an input.
  func count(of input: String) -> Int { waiting[input]?.buffers.count ?? 0 }

  /// Takes a buffer.
  /// - Parameter time: of its input's timeline.
  /// - Returns: what is to be written now, by input: nothing while more may come. What is first of an input waits for none,
  ///   so that a file has its header as soon as it can have one.
  mutating func add(_ buffer: Buffer, of input: String, at time: Duration) -> [String: [Buffer]] {
    waiting[input, default: Waiting(begin: time, buffers: [])].buffers.append(buffer)
    let isFirst = begun.insert(input).inserted
    guard let added = waiting[input], isFirst || time - added.begin >= Self.span || added.buffers.count >= limit
    else { return [:] }
    return take()
  }

  /// Ends the batch.
  /// - Returns: all that waits, by input.
  mutating func take() -> [String: [Buffer]] {
    defer { waiting = [:] }
    return waiting.mapValues(\.buffers)
  }
}
