import ArgumentParser
import MediaBridge

/// `1280x720`: the transform of an option that takes a size.
func size(of text: String) throws -> Dimensions {
  let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int32($0) }
  guard sides.count == 2, let width = sides[0], let height = sides[1], (64...16384).contains(width),
    (64...16384).contains(height)
  else { throw ValidationError("write a size such as 1280x720, with sides from 64 to 16384") }
  return Dimensions(width: width, height: height)
}
