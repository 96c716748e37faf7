import MediaBridge

extension Console {
  /// Says that changed templates have taken over.
  func tell(reloadOf templates: [String], _ fields: [String: Any] = [:]) {
    say("\(templates.joined(separator: ", ")): the changed template has taken over.")
    event("reloaded", fields.merging(["templates": templates]) { $1 })
  }

  /// Says what is wrong with a changed template.
  func tell(refusalOfReload error: LiveKitError) {
    say("\(error.message): not taken over, all goes on as before.")
    event("reload_refused", ["message": error.message, "code": error.code.rawValue])
  }
}
