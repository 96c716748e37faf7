import CGStreamer

/// The portal of this desktop's session, over a connection of its own: when that ends, so does all that was shared over it.
/// One thread's only.
final class DesktopPortal {
  private static let name = "org.freedesktop.portal.Desktop"
  private static let path = "/org/freedesktop/portal/desktop"
  private static let casts = "org.freedesktop.portal.ScreenCast"

  private let connection: OpaquePointer
  private let context: MainContext
  private let isCancelled: () -> Bool
  /// Whether the person has ended what was shared.
  private let closed = Signal()
  private var requests = 0

  /// - Parameters:
  ///   - context: of this thread.
  ///   - isCancelled: asked again whenever the context is woken.
  init(_ context: MainContext, isCancelled: @escaping () -> Bool) throws(ScreenCastError) {
    (self.context, self.isCancelled) = (context, isCancelled)
    var error: UnsafeMutablePointer<GError>?
    guard let address = take(g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, nil, &error)) else {
      throw .unavailable(takeMessage(&error) ?? "there is no session bus")
    }
    let flags = GDBusConnectionFlags(
      G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
        | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
    guard let made = g_dbus_connection_new_for_address_sync(address, flags, nil, nil, &error) else {
      throw .unavailable(takeMessage(&error) ?? "the session bus does not answer")
    }
    connection = made
  }

  deinit {
    g_dbus_connection_close_sync(connection, nil, nil)
    g_object_unref(UnsafeMutableRawPointer(connection))
  }

  /// Has the person choose a screen or a window.
  func share(showsPointer: Bool, token: String?) throws(ScreenCastError) -> ScreenCast.Stream {
    let made = try ask("CreateSession", options: ["session_handle_token": .string("mediabridge")])
    guard let session = made["session_handle"]?.string else { throw .failed("it opens no session") }
    listen("org.freedesktop.portal.Session", "Closed", at: session, closed)
    // 1 is a screen, 2 a window; kept until this process ends.
    var options = ["types": DBusArgument.number(3), "persist_mode": .number(1)]
    // 1 leaves the mouse out, 2 draws it into the frames.
    let mode: UInt32 = showsPointer ? 2 : 1
    if let modes = try property("AvailableCursorModes"), modes & mode != 0 { options["cursor_mode"] = .number(mode) }
    if let token { options["restore_token"] = .string(token) }
    _ = try ask("SelectSources", of: session, options: options)
    let begun = try ask("Start", of: session, arguments: [.string("")])
    guard let node = begun["streams"]?[0]?[0]?.number else {
      throw .failed("it has nothing to show")
    }
    return ScreenCast.Stream(
      descriptor: try openRemote(of: session), node: node, token: begun["restore_token"]?.string)
  }

  /// Returns when nothing is shared any more, or nobody wants it.
  func waitForEnd() {
    while !isCancelled(), closed.parameters == nil, g_dbus_connection_is_closed(connection) == 0 { context.iterate() }
  }

  // MARK: D-Bus

  /// Calls what is answered by a signal, once the person has done something.
  private func ask(
    _ method: String, of session: String? = nil, arguments: [DBusArgument] = [], options: [String: DBusArgument] = [:]
  ) throws(ScreenCastError) -> DBusValue {
    requests += 1
    let token = "mediabridge\(requests)"
    let sender = g_dbus_connection_get_unique_name(connection).map { String(cString: $0) } ?? ""
    let place = sender.dropFirst().map { $0 == "." ? "_" : String($0) }.joined()
    let answer = Signal()
    let id = listen(
      "org.freedesktop.portal.Request", "Response", at: "\(Self.path)/request/\(place)/\(token)", answer)
    defer { g_dbus_connection_signal_unsubscribe(connection, id) }
    let all = options.merging(["handle_token": .string(token)]) { own, _ in own }
    _ = try call(Self.casts, method, (session.map { [.path($0)] } ?? []) + arguments + [.options(all)])
    while true {
      if let parameters = answer.parameters { return try results(parameters) }
      guard !isCancelled() else { throw .cancelled }
      guard g_dbus_connection_is_closed(connection) == 0 else { throw .unavailable("the session bus has gone") }
      context.iterate()
    }
  }

  /// Of a request: 0 is done, 1 is refused by the person, 2 has ended otherwise.
  private func results(_ parameters: DBusValue) throws(ScreenCastError) -> DBusValue {
    switch parameters[0]?.number {
    case 0: break
    case 1: throw .refused
    default: throw .failed("it could not do it")
    }
    guard let results = parameters[1] else { throw .failed("it answers without results") }
    return results
  }

  private func property(_ name: String) throws(ScreenCastError) -> UInt32? {
    let got = try call("org.freedesktop.DBus.Properties", "Get", [.string(Self.casts), .string(name)])
    return got[0]?.number
  }

  private func call(_ interface: String, _ method: String, _ arguments: [DBusArgument]) throws(ScreenCastError)
    -> DBusValue
  {
    var error: UnsafeMutablePointer<GError>?
    guard let parameters = DBusValue(arguments) else { throw .unavailable("\(method) is given what is no string") }
    let reply = g_dbus_connection_call_sync(
      connection, Self.name, Self.path, interface, method, parameters.pointer, nil, G_DBUS_CALL_FLAGS_NONE, -1, nil,
      &error)
    guard let reply else { throw .unavailable(takeMessage(&error) ?? "\(method) fails") }
    return DBusValue(adopting: reply)
  }

  /// A descriptor of a connection with PipeWire that may see what is shared.
  private func openRemote(of session: String) throws(ScreenCastError) -> Int32 {
    var (error, list): (UnsafeMutablePointer<GError>?, UnsafeMutablePointer<GUnixFDList>?)
    guard let parameters = DBusValue([.path(session), .options([:])]) else {
      throw .unavailable("the session has no name")
    }
    let reply = g_dbus_connection_call_with_unix_fd_list_sync(
      connection, Self.name, Self.path, Self.casts, "OpenPipeWireRemote", parameters.pointer, nil,
      G_DBUS_CALL_FLAGS_NONE, -1, nil, &list, nil, &error)
    guard let reply else { throw .unavailable(takeMessage(&error) ?? "PipeWire cannot be reached") }
    _ = DBusValue(adopting: reply)
    guard let list else { throw .failed("it hands out no connection with PipeWire") }
    defer { g_object_unref(list) }
    let descriptor = g_unix_fd_list_get(list, 0, &error)
    guard descriptor >= 0 else { throw .unavailable(takeMessage(&error) ?? "PipeWire cannot be reached") }
    return descriptor
  }

  /// Has `signal` keep what it brings, until the connection is closed at the latest, which `closed` outlives.
  @discardableResult
  private func listen(_ interface: String, _ member: String, at path: String, _ signal: Signal) -> UInt32 {
    g_dbus_connection_signal_subscribe(
      connection, Self.name, interface, member, path, nil, G_DBUS_SIGNAL_FLAGS_NONE,
      { _, _, _, _, _, parameters, signal in
        guard let parameters, let signal else { return }
        Unmanaged<Signal>.fromOpaque(signal).takeUnretainedValue().parameters = DBusValue(sharing: parameters)
      }, Unmanaged.passRetained(signal).toOpaque(), { Unmanaged<Signal>.fromOpaque($0!).release() })
  }
}

/// What a signal has brought; nil before.
private final class Signal {
  var parameters: DBusValue?
}
