import GStreamerKit

/// Whether what a source carries is of a codec: asked once of caps, which are the same for many frames.
struct CarriedFormat: Sendable {
  private var known: (caps: Caps, isOurs: Bool)?

  mutating func isOf(_ codec: String, _ caps: Caps) -> Bool {
    if let known, known.caps === caps { return known.isOurs }
    let isOurs = caps.mediaType.hasSuffix("/x-\(codec)")
    known = (caps, isOurs)
    return isOurs
  }
}
