import Egress
import MediaCore

extension Console {
  /// Tells of layouts and labels; nothing of other events. Labels, of which there may be many, are for machines alone.
  func tell(composite event: EgressEvent) {
    switch event {
    case .layoutChanged(let layout):
      say("The layout is \(layout.rawValue) from now on.")
      self.event("layout", ["layout": layout.rawValue])
    case .layoutRefused(let error):
      say("\(error.message).")
      self.event("layout_refused", ["message": error.message, "code": error.code.rawValue])
    case .labelChanged(let label):
      self.event("label", label.participant.map { ["text": label.text, "participant": $0] } ?? ["text": label.text])
    case .labelRefused(let error, let sender):
      let sender = sender.map { " of \(PrintableText($0, limit: 80))" } ?? ""
      say("A label\(sender) is not shown: \(error.message)")
      self.event("label_refused", ["message": error.message, "code": error.code.rawValue])
    default: break
    }
  }
}
