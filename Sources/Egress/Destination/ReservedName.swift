import MediaCore
package import PipelineTemplates

/// A name that nobody else of this process gets. It is free again once nobody has this any more: also where whoever
/// asked for it has gone, as the disk did not answer.
package final class ReservedName: Sendable {
  package let place: Destination
  private let isHeld = Locked(true)

  /// - Parameter place: whose name was reserved.
  init(_ place: Destination) { self.place = place }

  deinit { giveBack() }

  /// Something was written there without a claim: it stays taken.
  package func keep() { if letGo() { FileClaim.keep(place.location) } }

  /// Nothing was written there, or a claim has it now.
  package func giveBack() { if letGo() { FileClaim.cancel(place.location) } }

  /// - Returns: whether it was held until now.
  private func letGo() -> Bool { isHeld.set(\.self, to: false) }
}
