import MediaBridge
import PipelineTemplates

// What came and is not there.
extension JobDestination {
  /// What it lacks because its disk, or its live server, does not take it as fast as it comes; nil where nothing is
  /// missing, and for a window.
  var missing: MediaLoss? {
    guard !destination.isWindow else { return nil }
    // Raw media may be encoded by the template: then it is not known that the server is what is too slow.
    let inputs = lines.all.filter { destination.isFile || $0.value.form != .raw }.keys
    let losses = inputs.map { (kind: $0.kind, loss: writer.loss(at: $0.name)) }
    return MediaLoss(losses, from: writer.beginning, calm: destination.isFile ? .zero : Self.calm)
  }
  /// A way that is too narrow has room again every half a minute, which nobody is to be told each time.
  private static let calm = Duration.seconds(60)

  /// Frames that were left out because the machine is too slow. That encoded ones are not taken as fast as they come is
  /// told by itself; raw ones may be encoded by the template, which is then what is too slow.
  var framesLeftOut: Int { lines[.video]?.form == .raw ? dropped(.video) : lines.dropped(.video) }
}
