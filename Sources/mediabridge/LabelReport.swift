import Egress
import MediaCore

extension Console {
  /// Tells of labels; nothing of other events. Labels themselves, of which there may be many, are for machines alone.
  func tell(labels event: EgressEvent) {
    switch event {
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
