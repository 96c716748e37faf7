extension EgressJob {
  /// How far it is, at once and each `interval` from now on, and at last what came of it: the stream ends with the job.
  /// Whoever falls behind gets the newest.
  public nonisolated func progressUpdates(every interval: Duration = .seconds(1)) -> AsyncStream<OutputProgress> {
    let (updates, told) = AsyncStream.makeStream(of: OutputProgress.self, bufferingPolicy: .bufferingNewest(1))
    let measuring = Task {
      while !Task.isCancelled {
        told.yield(await progress())
        try? await Task.sleep(for: interval)
      }
    }
    let ending = Task { [events] in
      for await _ in events {}
      measuring.cancel()
      await measuring.value
      told.yield(await progress())
      told.finish()
    }
    told.onTermination = { _ in
      measuring.cancel()
      ending.cancel()
    }
    return updates
  }
}
