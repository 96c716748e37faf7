import Testing

@testable import Egress

/// A key that is there twice is told where it is the second time.
@Suite struct YAMLKeysTests {
  @Test(arguments: [
    ("a: 1\nb: 2\na: 3\n", "3:1"),
    ("x:\n  a: {a: 1}\n  b: 2\n  'a': 3\n", "4:3"),
    ("x:\n  - a: 1\n    b: 2\n    a : 3\n", "4:5"),
    ("x:\n  a: |\n    a: text\n  a: 2\n", "4:3"),
    ("{a: 1, b: 2, a: 3}\n", "1:14"),
    ("x: {b: {a: 1}, \"a\": [a, {a: 2}],\n  c: ', a:', 'a': 3}\n", "2:14"),
    ("x: {ä: 1, ä: 2}\n", "1:11"),
  ])
  func isTheSecond(yaml: String, place: String) {
    let mistake = #expect(throws: YAMLMistake.self) { _ = try YAMLFile("a.yaml", holding: "layout").parse(yaml) }
    #expect(mistake?.description.hasPrefix("a.yaml:\(place): `") == true, "\(String(describing: mistake))")
  }
}
