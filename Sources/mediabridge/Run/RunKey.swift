import ArgumentParser

/// One scalar of the file, or one of a list of them.
struct RunItem: Hashable, Sendable {
  var text: String
  /// Set for this one alone.
  var values: [String: String] = [:]
}

/// One key of the file: how its value is written, and what it sets. The reader and the schema are made of these alone.
struct RunKey<Target> {
  let name: String
  let form: RunForm
  /// Where no option of `record` says it.
  var help: String?
  let set: (inout Target, [RunItem]) throws -> Void

  static func text(
    _ name: String, _ path: WritableKeyPath<Target, String?>, example: String, help: String? = nil
  ) -> RunKey {
    RunKey(name: name, form: .text(example: example), help: help) { $0[keyPath: path] = $1.first?.text }
  }

  static func command(_ name: String, _ path: WritableKeyPath<Target, String?>, example: String) -> RunKey {
    RunKey(name: name, form: .command(example: example)) { $0[keyPath: path] = $1.first?.text }
  }

  static func secret(_ name: String, _ path: WritableKeyPath<Target, String?>) -> RunKey {
    RunKey(name: name, form: .secret) { $0[keyPath: path] = try $1.first.map { try RunSecret.whole($0.text) } }
  }

  static func flag(_ name: String, _ path: WritableKeyPath<Target, Bool>) -> RunKey {
    RunKey(name: name, form: .flag) { $0[keyPath: path] = $1.first?.text == "true" }
  }

  /// - Parameter transform: that of the option of `record`, so that a value means the same in both.
  static func one<Value>(
    _ name: String, _ form: RunForm, _ path: WritableKeyPath<Target, Value>,
    _ transform: @escaping (String) throws -> Value
  ) -> RunKey {
    RunKey(name: name, form: form) { target, items in
      for item in items { target[keyPath: path] = try transform(item.text) }
    }
  }

  static func optional<Value>(
    _ name: String, _ form: RunForm, _ path: WritableKeyPath<Target, Value?>,
    _ transform: @escaping (String) throws -> Value
  ) -> RunKey { one(name, form, path) { try transform($0) } }

  static func some<Value>(
    _ name: String, _ form: RunForm, _ path: WritableKeyPath<Target, [Value]>,
    _ transform: @escaping (String) throws -> Value
  ) -> RunKey {
    RunKey(name: name, form: .some(form)) { $0[keyPath: path] = try $1.map { try transform($0.text) } }
  }

  /// Variables of templates: an item for each, `name=value`.
  static func values(_ name: String, _ path: WritableKeyPath<Target, [String]>) -> RunKey {
    RunKey(name: name, form: .values) { $0[keyPath: path] = $1.map(\.text) }
  }
}

/// The transform of whole numbers.
func count(of text: String) throws -> Int {
  guard let number = Int(text), number >= 0 else { throw ValidationError("give a whole number") }
  return number
}

/// The transform of numbers.
func share(of text: String) throws -> Double {
  guard let number = Double(text) else { throw ValidationError("give a number") }
  return number
}
