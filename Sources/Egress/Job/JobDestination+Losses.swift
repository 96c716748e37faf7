import MediaBridge
import PipelineTemplates

// What came and is not there.
extension JobDestination {
  /// What its files lack because they are not written as fast as it comes; nil where nothing does, and for what is no
  /// file.
  var missing: MediaLoss? {
    guard destination.isFile else { return nil }
    let losses = lines.all.keys.map { (kind: $0.kind, loss: writer.loss(at: $0.name)) }
    return MediaLoss(losses, from: writer.beginning)
  }

  /// Frames that were left out because the machine is too slow. That a file is not written as fast as they come is told
  /// by itself; raw ones may be encoded by its template, which is then what is too slow.
  var framesLeftOut: Int {
    let isTold = destination.isFile && lines[.video]?.form != .raw
    return isTold ? lines.dropped(.video) : dropped(.video)
  }
}
