import ArgumentParser

/// What access tokens are made with.
struct APIKeys {
  let key: String
  let secret: String

  /// - Parameter advice: what is said where there is neither.
  /// - Throws: which half is missing, and how it is given.
  init(_ key: String?, _ secret: String?, orElse advice: String) throws {
    switch (key, secret) {
    case (let key?, let secret?): (self.key, self.secret) = (key, secret)
    case (_?, nil): throw Self.lack("--api-key (or LIVEKIT_API_KEY)", "secret", "--api-secret", "LIVEKIT_API_SECRET")
    case (nil, _?): throw Self.lack("--api-secret (or LIVEKIT_API_SECRET)", "key", "--api-key", "LIVEKIT_API_KEY")
    case (nil, nil): throw ValidationError(advice)
    }
  }

  private static func lack(_ given: String, _ half: String, _ option: String, _ variable: String) -> ValidationError {
    ValidationError("\(given) is given without its \(half): give \(option), too, or set \(variable)")
  }
}
