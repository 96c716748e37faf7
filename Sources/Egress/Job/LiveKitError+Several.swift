package import MediaBridge

// What is told of several failures at once.
extension LiveKitError {
  /// What each of them says; with the code of the first one, which is returned as it is where there is no other.
  /// - Parameter most: how many are named; the rest is counted.
  /// - Returns: nil for none.
  package static func joined(_ failures: [LiveKitError], naming most: Int = .max) -> LiveKitError? {
    guard let first = failures.first, failures.count > 1 else { return failures.first }
    let rest = failures.count > most ? ["and \(failures.count - most) more"] : []
    let messages = failures.prefix(most).map(\.message) + rest
    return LiveKitError(first.code, messages.joined(separator: "; "), fault: first.fault, underlying: first)
  }

  /// What ended a wait, and why nothing had come by then.
  /// - Parameters:
  ///   - lack: why not; nil where nobody knows.
  ///   - isStop: whether somebody stopped it, which says least of all: then that is what was wrong.
  package func ending(_ lack: LiveKitError?, isStop: Bool) -> LiveKitError {
    guard let lack else { return self }
    let main = isStop ? lack : self
    return LiveKitError(main.code, "\(message); \(lack.message)", fault: main.fault, underlying: main)
  }
}
