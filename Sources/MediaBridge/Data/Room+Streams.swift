extension Room {
  /// Has the texts of a topic read that others send, from their beginning on. It holds for the sessions to come, too.
  /// - Parameter onNewStream: gets each text and the identity of its sender, in a task of its own.
  /// - Throws: ``StreamError/handlerAlreadyRegistered`` where the topic has one.
  public func registerTextStreamHandler(for topic: String, onNewStream: @escaping TextStreamHandler) async throws {
    try messages.streams.set(onNewStream, for: topic)
  }

  /// Has the bytes and files of a topic read that others send, from their beginning on. It holds for the sessions to
  /// come, too.
  /// - Parameter onNewStream: gets each stream and the identity of its sender, in a task of its own.
  /// - Throws: ``StreamError/handlerAlreadyRegistered`` where the topic has one.
  public func registerByteStreamHandler(for topic: String, onNewStream: @escaping ByteStreamHandler) async throws {
    try messages.streams.set(onNewStream, for: topic)
  }

  /// Has no text of that topic read that begins from now on.
  public func unregisterTextStreamHandler(for topic: String) async { messages.streams.removeTextHandler(for: topic) }

  /// Has no bytes of that topic read that begin from now on.
  public func unregisterByteStreamHandler(for topic: String) async { messages.streams.removeByteHandler(for: topic) }
}
