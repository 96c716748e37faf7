import Egress

/// Which destinations a running recording gets and loses, so that it goes where another job goes.
struct DestinationChange {
  /// All of them.
  let after: [RunJob.Place]
  let come: [RunJob.Place]
  /// Those that go once what comes is there.
  let gone: [RunJob.Place]
  /// Those that go before: a server, or a window, with other values takes no second one beside it.
  let changed: [RunJob.Place]

  /// Nil where one of them records nothing, or where no destination would be left before those that come are there.
  init?(from old: RunJob, to new: RunJob) {
    guard let before = old.outputs, let after = new.outputs else { return nil }
    let come = after.filter { place in !before.contains { $0.output == place.output } }
    let leaving = before.filter { place in !after.contains { $0.output == place.output } }
    let changed = leaving.filter { place in
      !place.output.destination.isFile && come.contains { $0.output.location == place.output.location }
    }
    guard changed.count < before.count else { return nil }
    (self.after, self.come, self.changed) = (after, come, changed)
    gone = leaving.filter { place in !changed.contains { $0.output == place.output } }
  }
}
