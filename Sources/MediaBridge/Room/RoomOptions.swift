public import Logging

/// How a room is joined and its media received.
public struct RoomOptions: Sendable {
  /// Subscribe to every track as it is published; `ConnectOptions.autoSubscribe` overrides it for one connect.
  public var autoSubscribe: Bool
  /// Receive of each track what its renderers show: the layer that fits the largest of them, and nothing while there is
  /// none that is visible, or for audio none at all. Outputs such as a recording count as renderers of full size.
  public var adaptiveStream: Bool
  /// Drop the video of a track for the audio while the way to here is too narrow for both, or this machine too slow:
  /// when for five seconds a tenth of its packets is lost for good, or is lost and repaired while a tenth of the audio
  /// is lost, or the decoder of its renderers falls behind and leaves out a tenth of its frames. First the smallest
  /// layer of a simulcast track is asked for, then nothing. Once everything else comes well it is tried again,
  /// after waits that grow from 8 s to 2 min while tries fail. When frames stop or go on for this, delegates are told
  /// so with ``VideoChangeReason/qualityChanged``. A track that the program or adaptive stream pauses stays paused.
  ///
  /// Off unless asked for: LiveKit servers fit layers to the link by themselves where they can, and an output is to
  /// have what there is. (Vonage leaves it to who publishes.)
  public var audioFallback: Bool
  /// Longest wait in milliseconds for a missing packet before the video or audio go on without it; packets that
  /// arrive in order never wait. nil keeps what the receive template says.
  public var receiveLatency: Int?
  /// Report the statistics of every track that is subscribed; `Track.set(reportStatistics:)` turns them on and off for
  /// one.
  public var reportRemoteTrackStatistics: Bool
  /// Whether the audio of subscribed tracks is played; each at its `RemoteAudioTrack.volume`.
  public var audioPlayback: AudioPlayback
  /// Encode only those layers of a published track that somebody receives, as the server says.
  public var dynacast: Bool
  /// Whether a track of this process lets go of its device when it is unpublished.
  public var stopLocalTrackOnUnpublish: Bool
  /// For ``LocalParticipant/setCamera(enabled:captureOptions:publishOptions:)`` without options.
  public var defaultCameraCaptureOptions: CameraCaptureOptions
  /// For ``LocalParticipant/setScreenShare(enabled:captureOptions:publishOptions:)`` without options.
  public var defaultScreenShareCaptureOptions: ScreenShareCaptureOptions
  /// For ``LocalParticipant/setMicrophone(enabled:captureOptions:publishOptions:)`` without options.
  public var defaultAudioCaptureOptions: AudioCaptureOptions
  /// For video that is published without options.
  public var defaultVideoPublishOptions: VideoPublishOptions
  /// For audio that is published without options.
  public var defaultAudioPublishOptions: AudioPublishOptions
  /// For messages that are published without options.
  public var defaultDataPublishOptions: DataPublishOptions
  /// A folder in which pipeline templates are looked for before the usual places; nil for those only: see
  /// <doc:Pipelines>. `connect` fails when it cannot be used.
  public var pipelineFolder: String?
  /// Values for the variables of receive templates, by name, such as `latency` and `threads`: a template takes those
  /// that it has variables for, and they go before `receiveLatency`. `Room.connect` throws for a name that no receive
  /// template has, and for a value that one cannot take. Outputs have values of their own
  /// (`RecordingOptions.values`).
  public var receiveValues: [String: String]
  /// Values for the variables of the output template `playback`, by name, such as `sink` and `delay`; checked by
  /// `Room.connect` unless `audioPlayback` is off.
  public var playbackValues: [String: String]
  /// Told what the room does, mostly at debug level, with the part of the room as metadata `part`. nil for a logger of
  /// each part, labelled `mediabridge.room`, `mediabridge.tracks`, `mediabridge.transport`, `mediabridge.playback` and
  /// `mediabridge.pipelines`.
  public var logger: Logger?

  /// Without arguments all that renderers show is received, and audio is played where there is a device.
  public init(
    defaultCameraCaptureOptions: CameraCaptureOptions = CameraCaptureOptions(),
    defaultScreenShareCaptureOptions: ScreenShareCaptureOptions = ScreenShareCaptureOptions(),
    defaultAudioCaptureOptions: AudioCaptureOptions = AudioCaptureOptions(),
    defaultVideoPublishOptions: VideoPublishOptions = VideoPublishOptions(),
    defaultAudioPublishOptions: AudioPublishOptions = AudioPublishOptions(),
    defaultDataPublishOptions: DataPublishOptions = DataPublishOptions(),
    autoSubscribe: Bool = true, adaptiveStream: Bool = true, audioFallback: Bool = false, receiveLatency: Int? = nil,
    reportRemoteTrackStatistics: Bool = false, audioPlayback: AudioPlayback = .automatic,
    dynacast: Bool = false, stopLocalTrackOnUnpublish: Bool = true, pipelineFolder: String? = nil,
    receiveValues: [String: String] = [:], playbackValues: [String: String] = [:],
    logger: Logger? = nil
  ) {
    self.defaultCameraCaptureOptions = defaultCameraCaptureOptions
    self.defaultScreenShareCaptureOptions = defaultScreenShareCaptureOptions
    self.defaultAudioCaptureOptions = defaultAudioCaptureOptions
    self.defaultVideoPublishOptions = defaultVideoPublishOptions
    self.defaultAudioPublishOptions = defaultAudioPublishOptions
    self.defaultDataPublishOptions = defaultDataPublishOptions
    self.autoSubscribe = autoSubscribe
    self.adaptiveStream = adaptiveStream
    self.audioFallback = audioFallback
    self.receiveLatency = receiveLatency
    self.reportRemoteTrackStatistics = reportRemoteTrackStatistics
    self.audioPlayback = audioPlayback
    self.dynacast = dynacast
    self.stopLocalTrackOnUnpublish = stopLocalTrackOnUnpublish
    self.pipelineFolder = pipelineFolder
    self.receiveValues = receiveValues
    self.playbackValues = playbackValues
    self.logger = logger
  }
}

/// Whether a room plays the audio that it receives.
public enum AudioPlayback: String, Sendable {
  /// All subscribed audio is played, mixed, through the output template `playback`. Without an audio device nothing is
  /// played, which is no error; one that is named by the value `sink` or by a template of one's own counts as there.
  /// Where there is a device and nothing is played, ``RoomDelegate/room(_:didFailToPlayAudioWithError:)`` says why.
  case automatic
  /// Nothing is played.
  case off
}

/// How a connection that was lost is brought back.
public enum ReconnectMode: String, Sendable {
  /// The session goes on: the server keeps the participant and its subscriptions, and media finds another way.
  case quick
  /// The room is joined anew with the same options. Participants and publications that are still there stay the same
  /// objects, and so do tracks with their renderers.
  case full
}

/// Where the connection of a room stands.
public enum ConnectionState: String, Sendable {
  /// Not connected: not yet, not any more, or the first connection did not come about.
  case disconnected
  /// The first connection is being made.
  case connecting
  /// A connection that stood is lost, and is being brought back.
  case reconnecting
  /// Media can flow.
  case connected
  /// The program has asked to leave; nothing is left of the connection when it is `disconnected`.
  case disconnecting
}
