import Egress
import MediaBridge

/// Has receive templates that have changed take over, and says what becomes of it.
struct FollowedTemplates: Sendable {
  private var watch = FileWatch(heedsAbsence: true)
  private var renewals: [Task<Void, Never>] = []

  /// Looks for changes at its own pace.
  mutating func follow(_ incoming: [IncomingMedia], _ console: Console) {
    guard watch.hasChanged({ incoming.templateFiles }) else { return }
    renewals.append(
      Task {
        for await result in incoming.renewals {
          switch result {
          case .success(let name): console.tell(reloadOf: ["\(name)"])
          case .failure(let error): console.tell(refusalOfReload: error)
          }
        }
      })
  }

  func stop() { for task in renewals { task.cancel() } }
}
