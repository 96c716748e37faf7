package import MediaBridge
package import MediaPipelines

extension [IncomingMedia] {
  /// Where their receive templates may be, whether there are some or not.
  package var templateFiles: [String] { Set(flatMap(\.templateFiles)).sorted() }

  /// Has receive templates that have changed take over: the name of one that has, and what is wrong with another. Each
  /// comes once, however many tracks are made of it.
  package var renewals: AsyncStream<Result<TemplateName, LiveKitError>> {
    AsyncStream { continuation in
      let task = Task {
        await renewTemplates { continuation.yield($0) }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  private func renewTemplates(_ tell: (Result<TemplateName, LiveKitError>) -> Void) async {
    await withTaskGroup(of: Result<TemplateName?, LiveKitError>.self) { group in
      for media in self {
        group.addTask {
          do throws(LiveKitError) { return .success(try await media.renewTemplate()) } catch { return .failure(error) }
        }
      }
      var told: Set<String> = []
      for await result in group {
        switch result {
        case .success(let name?) where told.insert("\(name)").inserted: tell(.success(name))
        case .failure(let error) where told.insert(error.message).inserted: tell(.failure(error))
        case .success, .failure: break
        }
      }
    }
  }
}
